// Asks the verified C, draws its answers, and words its errors.
"use strict";

const AXES = 16, TENSORS = 6, CELLS = 400; // Limits of the page.
const MOST = 2n ** 63n - 1n; // The C has 64 bits for a size.
let c = null; // The module's exports.

// --- the question ---------------------------------------------------------------------------

class Wrong extends Error {
  constructor(said, at, width = 1) {
    super(said);
    Object.assign(this, { at, width });
  }
}

// Blanks end a word, as in a shell, except in brackets or quotes.
const WORDS = /(?:'[^']*'|"[^"]*"|\([^()]*\)?|\[[^[\]]*\]?|\S)+/g;
const [SHAPE, NAMED] = [WHYCAST.shape, WHYCAST.named].map((each) => new RegExp(`^(?:${each})$`));

// Returns a command for sizes with names; quotes keep brackets and ? from the shell.
function command(text, rule) {
  const words = text.match(WORDS).map((word) => (/^['"]|^[\w,\u00d7]+$/.test(word) ? word : `'${word}'`));
  return `whycast explain ${words.join(" ")}${rule === "target" ? " --rule numpy-to" : ""}`;
}

// Returns the shapes, as the command line reads them, with the place of each size in the text.
function read(text, rule) {
  const shapes = [...text.matchAll(WORDS)].map(({ 0: word, index: at }) => {
    const width = word.length;
    const plain = word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2").trim(), isNamed = !SHAPE.test(plain) && NAMED.test(plain);
    if (isNamed) throw new Wrong(`the C takes numbers; for sizes with names, ask ${command(text, rule)}`, at, width);
    if (!SHAPE.test(plain)) throw new Wrong(`expected ${WHYCAST.sizes}, got '${word}'`, at, width);
    const sizes = [...word.matchAll(/\d+/g)].map((found) => ({ size: BigInt(found[0]), at: at + found.index, width: found[0].length }));
    const large = sizes.find(({ size }) => size > MOST);
    if (large) throw new Wrong("the C has 64 bits for a size: it is at most 2⁶³ − 1", large.at, large.width);
    if (sizes.length > AXES) throw new Wrong(`${sizes.length} axes: this page shows at most ${AXES}`, at, width);
    return Object.assign(sizes, { at, width });
  });
  if (!shapes.length) throw new Wrong("no shape given: expected at least 1, such as 3x1");
  const more = shapes[TENSORS];
  if (more) throw new Wrong(`this page shows at most ${TENSORS} shapes`, more.at, more.width);
  return shapes;
}

// --- the verified C -------------------------------------------------------------------------

// Allocates the module's memory from its start, which frees earlier memory.
function fresh() {
  let top = Number(c.__heap_base.value ?? c.__heap_base);
  const room = (bytes) => {
    top = (top + 15) & ~15;
    const at = top;
    top += bytes;
    const lacking = top - c.memory.buffer.byteLength;
    if (lacking > 0) c.memory.grow(Math.ceil(lacking / 65536));
    return at;
  };
  const write = (kind) => (values) => {
    const at = room(kind.BYTES_PER_ELEMENT * values.length);
    new kind(c.memory.buffer, at, values.length).set(values);
    return at;
  };
  const got = (at, count) => [...new BigInt64Array(c.memory.buffer, at, count)];
  return { room, longs: write(BigInt64Array), pointers: write(Uint32Array), got };
}

const ranks = (shapes) => shapes.map((shape) => BigInt(shape.length));

function failed(code, place, memory) {
  const [tensor, axis] = memory.got(place, 2).map(Number);
  return { code: Number(code), tensor, axis };
}

function commonShape(shapes) {
  const memory = fresh();
  const place = memory.room(16), shape = memory.room(8 * AXES);
  const code = c.whycast_broadcast_shape(shape, BigInt(AXES), place,
    memory.pointers(shapes.map(memory.longs)), memory.longs(ranks(shapes)), BigInt(shapes.length));
  return code < 0n ? failed(code, place, memory) : { code: 0, shape: memory.got(shape, Number(code)) };
}

// The number of a shape's elements, or null if it exceeds 63 bits.
function elements(shape) {
  const memory = fresh();
  const found = c.whycast_byte_size(memory.room(16), memory.longs(shape), BigInt(shape.length), 1n);
  return found < 0n ? null : found;
}

// Row-major strides: the number of elements of the axes after each axis.
const rowMajor = (shape) => shape.map((_, axis) => elements(shape.slice(axis + 1)));

function viewStrides(strides, shape, target) {
  const memory = fresh();
  const place = memory.room(16), view = memory.room(8 * target.length);
  const code = c.whycast_broadcast_strides(view, place, memory.longs(strides),
    memory.longs(shape), BigInt(shape.length), memory.longs(target), BigInt(target.length));
  return code < 0n ? failed(code, place, memory) : { code: 0, strides: memory.got(view, target.length) };
}

// The element at each place of the target: the C copies the elements' numbers there.
function sources(shape, target, from, to) {
  const memory = fresh();
  const input = memory.longs(Array.from({ length: from }, (_, number) => BigInt(number)));
  const output = memory.room(8 * to);
  c.whycast_broadcast(output, BigInt(8 * to), memory.room(16), input, BigInt(8 * from),
    memory.longs(shape), BigInt(shape.length), memory.longs(target), BigInt(target.length), 8n);
  return memory.got(output, to).map(Number);
}

function loopPlan(shapes) {
  const memory = fresh();
  const count = shapes.length, capacity = AXES + 1;
  const sizes = memory.room(8 * capacity), steps = memory.room(8 * capacity * count);
  const loops = Number(c.whycast_plan(sizes, steps, BigInt(capacity), memory.room(16),
    memory.pointers(shapes.map(memory.longs)), memory.longs(ranks(shapes)), BigInt(count)));
  if (loops < 0) return null;
  const all = memory.got(steps, loops * count);
  return { sizes: memory.got(sizes, loops), steps: Array.from({ length: loops }, (_, j) => all.slice(j * count, (j + 1) * count)) };
}

// --- the answer -----------------------------------------------------------------------------

function ask(rule, shapes) {
  const sizes = shapes.map((shape) => shape.map((each) => each.size ?? each));
  const tensors = rule === "target" ? sizes.slice(0, 1) : sizes;
  const found = { sizes, rule, ...commonShape(rule === "target" ? sizes.slice(1) : sizes) };
  if (found.code < 0) return found;
  found.views = [];
  for (const shape of tensors) {
    const own = rowMajor(shape);
    const known = own.map((stride) => stride ?? 0n);
    const view = viewStrides(known, shape, found.shape);
    if (view.code < 0) return { ...found, ...view };
    const [from, to] = [elements(shape), elements(found.shape)];
    const drawn = from !== null && to !== null && from <= CELLS && to <= CELLS && found.shape.length <= 4;
    found.views.push({ shape, own, strides: own.includes(null) ? null : view.strides,
      sources: drawn ? sources(shape, found.shape, Number(from), Number(to)) : null });
  }
  found.plan = rule === "target" ? null : loopPlan(sizes);
  return found;
}

const told = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
const common = (sizes) => Math.max(...sizes.map((shape) => shape.length));

function make(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

function table(caption, heads, rows) {
  const head = make("tr", {}, ...heads.map((text) => (text ? make("th", { scope: "col" }, text) : make("td"))));
  const body = rows.map(([first, ...others]) => make("tr", {}, make("th", { scope: "row" }, first),
    ...others.map((cell) => (cell instanceof Node ? cell : make("td", {}, `${cell}`)))));
  const whole = make("table", { class: "docutils" }, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...body));
  return make("div", { class: "table-wrapper container", tabindex: "0", role: "region", "aria-label": caption }, whole);
}

const nameOf = (found, n) => (found.rule === "target" ? ["shape", "target"][n] : `tensor ${n}`);

// Steps 1 and 2 by axis; a failure marks its axis.
function steps(found) {
  const rank = common(found.sizes);
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  const rows = found.sizes.map((shape, n) => [`${nameOf(found, n)}, ${told(shape)}`, ...axes.map((axis) => {
    const missing = rank - shape.length, size = axis < missing ? 1n : shape[axis - missing];
    const bad = found.tensor === n && found.axis === axis;
    const due = found.code === 0 ? found.shape[axis] : size;
    const text = `${size}${due !== size ? ` → ${due}` : ""}${bad ? " \u2717" : ""}`;
    return make("td", { class: [axis < missing ? "prepended" : "", due !== size ? "grown" : "", bad ? "bad" : ""].join(" ") }, text);
  })]);
  if (found.rule === "sonnx" && found.code === 0) rows.push(["common shape", ...found.shape.map((size) => make("td", { class: "common" }, `${size}`))]);
  const caption = found.rule === "target"
    ? "The tensor and its target: a dashed 1 stands for a missing axis, 1 → n repeats"
    : "Step 1 prepends a 1 (dashed) for a missing axis, step 2 repeats: 1 → n";
  return table(caption, ["", ...axes.map((axis) => `axis ${axis}`)], rows);
}

const colour = (element) => `--hue: ${(element * 67) % 360}`;

// A tensor as grids of its last two axes.
function grids(label, shape, numbers, kind) {
  const [rows, columns] = [shape.at(-2) ?? 1n, shape.at(-1) ?? 1n].map(Number);
  const seen = new Set(), box = make("div", { class: "grids" });
  for (let from = 0; from < numbers.length; from += rows * columns) {
    const outer = indexOf(from, shape).slice(0, -2);
    const body = make("tbody");
    for (let row = 0; row < rows; row++) {
      const line = make("tr");
      for (let column = 0; column < columns; column++) {
        const at = from + row * columns + column, element = numbers[at];
        const cell = make("td", { style: colour(element), class: seen.has(element) ? "copy" : "", "data-at": at, "data-element": element }, `${element}`);
        if (kind === "output") cell.setAttribute("tabindex", at ? "-1" : "0");
        seen.add(element);
        line.append(cell);
      }
      body.append(line);
    }
    const name = outer.length ? `[${[...outer, "…"].join(", ")}]` : "";
    const grid = make("table", { class: `cells ${kind}`, "aria-label": `${label} ${name}` }, body);
    if (kind === "output") grid.setAttribute("role", "grid");
    if (name) grid.prepend(make("caption", {}, name));
    box.append(grid);
  }
  if (!numbers.length) box.append(make("span", { class: "soft" }, "no element"));
  return make("figure", { class: "tensor" }, make("figcaption", {}, `${label} ${told(shape)}`), box);
}

function indexOf(place, shape) {
  const index = [];
  for (const size of [...shape].reverse().map(Number)) {
    index.unshift(place % size);
    place = Math.floor(place / size);
  }
  return index;
}

// A tensor and its output, with an arrow from the cell under the pointer to its source.
function pair(found, n) {
  const { shape, sources: numbers } = found.views[n];
  const own = Array.from({ length: Number(elements(shape)) }, (_, number) => number);
  const input = grids(nameOf(found, n), shape, own, "input");
  const output = grids(`output ${n}`, found.shape, numbers, "output");
  const arrow = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  arrow.setAttribute("aria-hidden", "true");
  const box = make("div", { class: "pair" }, input, make("span", { class: "to", "aria-hidden": "true" }, "→"), output, arrow);
  const cells = [...output.querySelectorAll("[data-at]")];
  const show = (cell) => {
    const source = input.querySelector(`[data-at="${cell.dataset.element}"]`);
    for (const marked of box.querySelectorAll(".pointed")) marked.classList.remove("pointed");
    cell.classList.add("pointed");
    source.classList.add("pointed");
    const whole = box.getBoundingClientRect();
    const [a, b] = [cell, source].map((each) => each.getBoundingClientRect());
    // Between facing edges: the grids stand side by side, or one below the other.
    const beside = a.left > b.right;
    const start = beside ? [a.left, a.top + a.height / 2] : [a.left + a.width / 2, a.top];
    const end = beside ? [b.right, b.top + b.height / 2] : [b.left + b.width / 2, b.bottom];
    const [[x, y], [u, v]] = [start, end].map(([left, top]) => [left - whole.left, top - whole.top]);
    const bend = beside ? [(x + u) / 2, Math.min(y, v) - 20] : [Math.max(x, u) + 20, (y + v) / 2];
    arrow.innerHTML = `<path d="M${x} ${y}Q${bend} ${u} ${v}"/><circle cx="${u}" cy="${v}" r="4"/>`;
    const [to, from] = [indexOf(Number(cell.dataset.at), found.shape), indexOf(Number(cell.dataset.element), shape)];
    const { strides } = found.views[n], walked = to.map((each, axis) => `${each}\u00b7${strides?.[axis]}`).join(" + ");
    document.getElementById("said").replaceChildren(`output ${n} at ${told(to)} is ${nameOf(found, n)} at ${told(from)}: `,
      make("code", {}, `whycast.source_index(${[shape, found.shape, to].map(told).join(", ")})`), ` returns ${told(from)}${walked && strides ? `, element ${cell.dataset.element} = ${walked} by the strides` : ""}`);
  };
  box.example = () => cells.length && show(cells.at(-1));
  box.addEventListener("pointerover", ({ target }) => target.closest(".output [data-at]") && show(target.closest("[data-at]")));
  box.addEventListener("focusin", ({ target }) => target.matches("[data-at]") && show(target));
  box.addEventListener("keydown", (event) => {
    const columns = Number(found.shape.at(-1) ?? 1n), at = Number(event.target.dataset.at);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - columns, ArrowDown: at + columns, Home: 0, End: cells.length - 1 }[event.key];
    if (!(to in cells)) return;
    event.preventDefault();
    event.target.tabIndex = -1;
    cells[to].tabIndex = 0;
    cells[to].focus();
  });
  return box;
}

// The package's answers for two small shapes by each rule, computed when the page was built.
function others(found) {
  const box = make("section", {}, make("h2", { id: "others" }, "The other rules"));
  const key = found.sizes.map((shape) => shape.join("x")).join(" ");
  const known = found.sizes.length === 2 ? WHYCAST.answers[key] : undefined;
  const link = (to, text) => make("a", { href: to }, text);
  const line = found.sizes.map((shape) => (shape.length ? shape.join("x") : "scalar")).join(" ");
  if (!known) {
    box.append(make("p", {}, "This page has their results only for two small shapes. If no size is 0, the rules of NumPy and ONNX without a target agree with SONNX's (",
      link("theories/numpy.comparison.html", "theorem positive_numpy"), "); ", link("rules.html", "a table"),
      " shows how the others differ. ", make("code", {}, `whycast explain ${line}`), " asks all rules."));
    return box;
  }
  const here = found.code < 0 ? "error" : told(found.shape), [cells, why] = known;
  box.append(table("Rules with a target broadcast the first shape to the second, on its last axes", ["rule", "result", "its size", "its axes"],
    WHYCAST.rules.map((rule, n) => [rule.title, make("td", [here, "–"].includes(cells[n]) ? {} : { class: "differs" }, `${cells[n]}${[here, "–"].includes(cells[n]) ? "" : " \u2260"}`), rule.size, rule.axes])));
  box.append(make("p", { class: "soft" }, "\u2260 differs from the answer above; – does not apply."), make("ul", {}, ...why.map((id) =>
    make("li", {}, /^F/.test(id) ? link(`findings.html#${id.toLowerCase()}`, id) : make("code", {}, id), `: ${WHYCAST.why[id]}`))));
  return box;
}

// The error uses the package's words.
function verdict({ code, rule, sizes, shape, tensor, axis }) {
  const [own, target] = sizes.map(told), rank = common(sizes), isTarget = rule === "target";
  if (code === 0) return `${isTarget ? `${own} to ${target}` : sizes.map(told).join(", ")} → ${told(shape)}`;
  if (code === -2) {
    return `shape ${own} does not broadcast to ${target}: the target has no axis for axis 0 of the shape, of size ${sizes[0][0]}; expected a rank of at least ${rank}, got ${sizes[1].length}`;
  }
  const there = sizes.map((each) => each[axis - rank + each.length] ?? 1n);
  const due = isTarget ? there[1] : there.reduce((most, size) => (size > most ? size : most));
  const subject = isTarget ? `shape ${own} does not broadcast to ${target}` : "shapes do not broadcast (E1)";
  return `${subject}: axis ${axis} of the ${isTarget ? "target's" : "common"} rank ${rank}, ${isTarget ? "the shape" : `tensor ${tensor}`} has size ${there[tensor]}, expected ${due === 1n ? "1" : `${due} or 1`}`;
}

function draw(found) {
  const parts = [steps(found)];
  if (found.code === 0) {
    parts.push(make("h2", { id: "elements" }, "Elements"));
    const shown = found.views.every((view) => view.sources);
    parts.push(make("p", {}, shown ? "Each number is an element; dotted cells repeat it, without memory in a view. Point at a cell of an output, or use Tab and arrow keys, to see its element."
      : `Too many to draw: more than ${CELLS}, or more than 4 axes.`));
    if (shown) parts.push(...found.views.map((_, n) => pair(found, n)));
    parts.push(make("h2", { id: "strides" }, "Strides"), table("The distance, in elements, to the next element along an axis; 0 repeats", ["", "strides", "strides of the view"],
      found.views.map(({ own, strides }, n) => [nameOf(found, n), own.includes(null) ? "–" : told(own), strides ? told(strides) : "–"])));
    if (found.plan) {
      parts.push(make("h2", { id: "plan" }, "Loop plan"), table("Loops that visit all elements without a copy, the outermost first", ["loop", "rounds", ...found.sizes.map((_, n) => `step of tensor ${n}`)],
        found.plan.sizes.map((size, j) => [`${j}`, size, ...found.plan.steps[j]])));
    }
  }
  return [...parts, others(found)];
}

// Shows a mistake below the place in the text.
function complain(text, { message, at, width }) {
  document.getElementById("shapes").setAttribute("aria-invalid", String(Boolean(message)));
  const mark = message && at !== undefined ? [make("pre", { tabindex: "0" }, `${text}\n${" ".repeat(at)}${"^".repeat(width)}`)] : [];
  document.getElementById("wrong").replaceChildren(...(message ? [make("p", {}, message), ...mark] : []));
}

function answer() {
  const text = document.getElementById("shapes").value;
  const rule = document.querySelector("[name=rule]:checked").value;
  const link = `#${new URLSearchParams({ shapes: text, rule })}`;
  document.getElementById("address").href = link;
  document.getElementById("said").textContent = "";
  const box = document.getElementById("answer");
  try {
    const shapes = read(text, rule);
    if (rule === "target" && shapes.length !== 2) throw new Wrong("expected two shapes, that of the tensor and the target");
    const found = ask(rule, shapes);
    const shape = shapes[found.tensor]; // Undefined if they broadcast.
    complain(text, shape ? { message: verdict(found), ...(shape[found.axis - common(shapes) + shape.length] ?? shape) } : {});
    document.getElementById("verdict").textContent = shape ? "" : verdict(found);
    box.replaceChildren(...draw(found));
    box.querySelector(".pair")?.example();
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    complain(text, error);
    document.getElementById("verdict").textContent = "";
    box.replaceChildren();
  }
}

function fromAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.has("shapes")) {
    document.getElementById("shapes").value = asked.get("shapes");
    const rule = asked.get("rule") === "target" ? "target" : "sonnx";
    document.querySelector(`[name=rule][value=${rule}]`).checked = true;
  }
  answer();
}

const bytes = Uint8Array.from(atob(WHYCAST.wasm), (letter) => letter.charCodeAt(0));
WebAssembly.instantiate(bytes).then(({ instance }) => {
  c = instance.exports;
  fromAddress();
  const form = document.getElementById("ask");
  form.addEventListener("input", answer);
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => new URLSearchParams(location.hash.slice(1)).has("shapes") && fromAddress());
});

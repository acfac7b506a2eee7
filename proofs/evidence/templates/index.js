// The page is complete without this: it adds a filter, and opens what is folded where a link leads
// there or the page is printed.
"use strict";
{
  const theories = [...document.querySelectorAll("details.theory")];
  const words = document.getElementById("words");
  const found = document.getElementById("found");

  const show = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const theory of theories) {
      let here = 0;
      for (const goal of theory.querySelectorAll(".goal")) {
        const text = goal.textContent.toLowerCase();
        goal.hidden = !wanted.every((word) => text.includes(word));
        here += goal.hidden ? 0 : 1;
      }
      theory.hidden = here === 0;
      theory.open = wanted.length > 0 && here > 0;
      count += here;
    }
    found.textContent = wanted.length ? `${count} found` : "";
  };

  const unfold = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    const folded = target && target.closest("details");
    if (folded && !folded.open) {
      folded.open = true;
      target.scrollIntoView();
    }
  };

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const folded of closed) folded.open = true;
  });
  addEventListener("afterprint", () => {
    for (const folded of closed) folded.open = false;
  });
  addEventListener("hashchange", unfold);
  words.addEventListener("input", show);
  document.getElementById("filter").hidden = false;
  unfold();
}

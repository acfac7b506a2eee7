// The page is complete without this: it adds a filter.
"use strict";
{
  const theories = [...document.querySelectorAll("details.theory")];
  const words = document.getElementById("words");

  words.addEventListener("input", () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const theory of theories) {
      let here = 0;
      for (const goal of theory.querySelectorAll(".goal")) {
        const text = goal.textContent.toLowerCase();
        goal.hidden = !wanted.every((word) => text.includes(word));
        here += goal.hidden ? 0 : 1;
      }
      theory.hidden = wanted.length > 0 && here === 0;
      theory.open = wanted.length > 0 && here > 0;
      count += here;
    }
    document.getElementById("found").textContent = wanted.length ? `${count} found` : "";
  });
  document.getElementById("filter").hidden = false;
}

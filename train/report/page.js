"use strict";
// Hovering shows the values of the nearest step; a click on a name hides its curve.
for (const figure of document.querySelectorAll("figure.chart")) {
  const lines = JSON.parse(figure.querySelector("script").textContent);
  const svg = figure.querySelector("svg"), cursor = figure.querySelector(".cursor");
  const curves = figure.querySelectorAll("g.curve"), buttons = figure.querySelectorAll("button");
  const of = name => parseFloat(figure.dataset[name]);
  const scale = figure.dataset.log === "true" ? Math.log : x => x;
  const place = x => {
    const span = scale(of("high")) - scale(of("low"));
    return span === 0 ? (of("left") + of("right")) / 2 : of("left") + (scale(x) - scale(of("low"))) / span * (of("right") - of("left"));
  };
  const format = v => Math.abs(v) >= 1e5 || (v !== 0 && Math.abs(v) < 1e-3) ? v.toExponential(3) : String(parseFloat(v.toPrecision(5)));
  const show = event => {
    const box = svg.getBoundingClientRect();
    const at = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    let nearest = null;
    lines.forEach((line, k) => {
      let best = -1, far = Infinity;
      line.x.forEach((x, i) => {
        const d = Math.abs(place(x) - at);
        if (d < far) { far = d; best = i; }
      });
      const output = buttons[k].querySelector("output");
      output.textContent = best < 0 ? "" : format(line.y[best]) + (line.err && line.err[best] !== null ? " ± " + format(line.err[best]) : "") + " at " + format(line.x[best]);
      if (best >= 0 && (nearest === null || Math.abs(place(line.x[best]) - at) < Math.abs(place(nearest) - at))) nearest = line.x[best];
    });
    if (nearest !== null) {
      cursor.setAttribute("x1", place(nearest));
      cursor.setAttribute("x2", place(nearest));
      cursor.setAttribute("visibility", "visible");
    }
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    for (const b of buttons) b.querySelector("output").textContent = "";
  });
  buttons.forEach((button, k) => button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", on);
    curves[k].classList.toggle("hidden", !on);
  }));
}
document.body.dataset.ready = document.querySelectorAll("figure.chart").length;

"use strict";
// Sliders. Without this script each setting is a fold of its own.
for (const view of document.querySelectorAll(".view")) {
  const labels = Array.from(view.querySelectorAll(".slider"));
  const states = Array.from(view.querySelectorAll(".state"));
  const inputs = labels.map((label) => label.querySelector("input"));
  const show = () => {
    let number = 0;
    labels.forEach((label, index) => {
      const values = JSON.parse(inputs[index].dataset.values);
      const value = values[inputs[index].value];
      number = number * values.length + Number(inputs[index].value);
      label.querySelector("b").textContent = value;
      inputs[index].setAttribute("aria-valuetext", value);
    });
    states.forEach((state, index) => {
      state.open = true;
      state.hidden = index !== number;
    });
  };
  if (inputs.length > 0) {
    view.classList.add("moves");
    labels.forEach((label) => { label.hidden = false; });
    inputs.forEach((input) => input.addEventListener("input", show));
    show();
  }
}

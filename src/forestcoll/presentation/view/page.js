"use strict";
(function () {
  const details = document.getElementById("details");

  // The title of the shape under the pointer or with the focus.
  function describe(event) {
    for (let at = event.target; at && at.tagName !== "svg"; at = at.parentNode) {
      const title = at.querySelector && at.querySelector(":scope > title");
      if (title) {
        details.textContent = title.textContent;
        return;
      }
    }
  }
  for (const picture of document.querySelectorAll("svg.forestcoll-svg")) {
    picture.setAttribute("role", "group");
    picture.addEventListener("pointerover", describe);
    picture.addEventListener("focusin", describe);
    const marks = Array.from(picture.querySelectorAll(".marks > g"));
    marks.forEach(function (mark, place) {
      mark.setAttribute("tabindex", place ? "-1" : "0");
      mark.setAttribute("role", "img");
      mark.setAttribute("aria-label", mark.querySelector("title").textContent);
    });
    picture.addEventListener("keydown", function (event) {
      const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const place = marks.indexOf(document.activeElement);
      if (!move || place < 0) return;
      event.preventDefault();
      const next = marks[(place + move + marks.length) % marks.length];
      marks[place].setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  }

  function start(figure) {
    const stories = JSON.parse(figure.querySelector("script").textContent);
    const find = function (name) { return figure.querySelector("." + name); };
    const choice = find("story"), play = find("play"), state = find("state");
    const levels = 20;
    let story = stories[0], step = story.last, timer = 0;

    function level(order) {
      return Math.round((1 - 0.85 * (order - 1) / Math.max(story.last - 1, 1)) * levels);
    }
    function recolour(shape, order) {
      for (const part of shape.querySelectorAll("[data-scale]")) {
        part.setAttribute("class", "l" + level(order) + " " + part.dataset.scale);
      }
      const words = shape.querySelector("[data-words]");
      const place = level(order) / levels;
      if (words) words.setAttribute("class", place > 0.35 && place < 0.65 ? "on-middle" : place > 0.5 ? "on-busy" : "on-idle");
    }
    function show() {
      for (const shape of figure.querySelectorAll("[data-wire], [data-badge]")) shape.setAttribute("display", "none");
      story.wires.forEach(function (each) {
        const orders = each[1].filter(function (order) { return order[0] <= step; });
        if (!orders.length) return;
        const sends = orders.reduce(function (sum, order) { return sum + order[1]; }, 0);
        const isLast = orders.some(function (order) { return order[0] === step; });
        const shape = figure.querySelector('[data-wire="' + each[0] + '"]');
        shape.removeAttribute("display");
        shape.setAttribute("opacity", step === story.last || isLast ? "1" : "0.35");
        recolour(shape, orders[0][0]);
        const count = shape.querySelector("[data-count]");
        if (count) count.setAttribute("display", sends > 1 ? "inline" : "none");
        if (count) count.querySelector("text").textContent = sends + "x";
      });
      story.reached.forEach(function (each) {
        if (each[1] > step) return;
        const shape = figure.querySelector('[data-badge="' + each[0] + '"]');
        shape.removeAttribute("display");
        recolour(shape, Math.max(each[1], 1));
        shape.querySelector("[data-words]").textContent = each[1] || "★";
      });
      state.textContent = step === story.last ? story.words : "send " + step + " of " + story.last;
      figure.querySelector("[data-name]").textContent = story.name;
    }
    function stop() {
      if (timer) clearInterval(timer);
      timer = 0;
      play.textContent = "▶ Play";
    }
    function move(to) {
      step = Math.min(Math.max(to, 0), story.last);
      show();
    }
    stories.forEach(function (each, place) { choice.add(new Option(each.name, place)); });
    choice.addEventListener("change", function () {
      stop();
      story = stories[Number(choice.value)];
      move(story.last);
    });
    play.addEventListener("click", function () {
      if (timer) return stop();
      if (step === story.last) move(0);
      play.textContent = "❚❚ Pause";
      timer = setInterval(function () {
        move(step + 1);
        if (step === story.last) stop();
      }, 900);
    });
    find("back").addEventListener("click", function () { stop(); move(step - 1); });
    find("next").addEventListener("click", function () { stop(); move(step === story.last ? 1 : step + 1); });
    find("all").addEventListener("click", function () { stop(); move(story.last); });
    find("controls").hidden = false;
    show();
  }
  document.querySelectorAll("figure.player").forEach(start);
})();

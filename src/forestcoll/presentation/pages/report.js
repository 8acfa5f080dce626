"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const choice = $("choice");
  const own = $("main").dataset.own;

  // The reader chooses the schedule that the pictures compare with the own one.
  const choose = () => {
    const chosen = choice.value;
    for (const each of all("[data-row]")) each.hidden = ![own, chosen].includes(each.dataset.row);
    for (const each of all("[data-rows]")) {
      const rows = each.dataset.rows.split(" ");
      each.classList.toggle("chosen", rows.includes(chosen));
      each.classList.toggle("own", rows.includes(own));
    }
    document.body.classList.add("choosing");
    if (slider) restart();
  };

  // The charts of sends that are shown share one time.
  const slider = $("time"), play = $("play"), moment = $("moment");
  let charts = [], playing = 0;
  const sendsOf = (figure) => all(".send", figure).map((node) => ({
    node, begin: Number(node.dataset.begin), end: Number(node.dataset.end),
  }));
  const restart = () => {
    stop();
    charts = all("figure[data-row]:not([hidden])").filter((figure) => figure.querySelector(".now")).map((figure) => ({
      now: figure.querySelector(".now"), sends: sendsOf(figure), title: figure.dataset.title,
    }));
    slider.max = Math.max(...charts.flatMap((chart) => chart.sends.map((send) => send.end)), 1);
    show(null);
  };
  const showChart = ({ now, sends }, time) => {
    now.setAttribute("visibility", time === null ? "hidden" : "visible");
    const { left, right, until } = now.dataset;
    const place = Number(left) + (Number(right) - Number(left)) * Math.min(1, (time ?? 0) / Number(until));
    now.setAttribute("transform", `translate(${place.toFixed(2)} 0)`);
    for (const { node, begin, end } of sends) {
      node.classList.toggle("waiting", time !== null && time < begin);
      node.classList.toggle("done", time !== null && time >= end);
    }
  };
  const sentence = ({ sends, title }, time) => {
    const done = sends.filter((send) => time >= send.end).length;
    const busy = sends.filter((send) => time >= send.begin && time < send.end).length;
    return `${title}: ${done} of ${sends.length} sends done, ${busy} under way`;
  };
  const show = (time) => {
    slider.value = time ?? 0;
    for (const chart of charts) showChart(chart, time);
    moment.value = time === null ? "" :
      `${time.toFixed(1)} µs. ${charts.map((chart) => sentence(chart, time)).join(". ")}.`;
  };
  const stop = () => {
    cancelAnimationFrame(playing);
    clearTimeout(playing);
    playing = 0;
    if (play) play.textContent = "Play";
  };
  const events = () => [...new Set(charts.flatMap((chart) => chart.sends.flatMap((send) => [send.begin, send.end])))]
    .sort((one, other) => one - other);
  const step = (forward) => {
    stop();
    const time = Number(slider.value), later = events().filter((each) => forward ? each > time + 1e-6 : each < time - 1e-6);
    if (later.length) show(forward ? later[0] : later[later.length - 1]);
  };
  const start = () => {
    const end = Number(slider.max), seconds = 8;
    let begin = Number(slider.value) >= end ? 0 : Number(slider.value), first = null;
    play.textContent = "Pause";
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      const next = () => {
        const later = events().filter((each) => each > begin);
        if (!later.length) return stop();
        [begin] = later;
        show(begin);
        playing = setTimeout(next, 900);
      };
      return next();
    }
    const frame = (clock) => {
      first ??= clock;
      const time = begin + (clock - first) / 1000 / seconds * end;
      show(Math.min(time, end));
      if (time >= end) return stop();
      playing = requestAnimationFrame(frame);
    };
    playing = requestAnimationFrame(frame);
  };

  if (!choice) return;
  for (const each of all(".controls")) each.hidden = false;
  choice.addEventListener("change", choose);
  if (!slider) return;
  slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
  play.addEventListener("click", () => playing ? stop() : start());
  $("back").addEventListener("click", () => step(false));
  $("next").addEventListener("click", () => step(true));
  restart();
})();

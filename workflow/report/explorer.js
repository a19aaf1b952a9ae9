// The choices of explorer.html: selects and checkboxes set the parameters of the two charts.
const get = id => document.getElementById(id);
const chosen = () => [...document.querySelectorAll("#methods input:checked")].map(box => box.value);

function fill(select, values, preferred) {
  const kept = values.includes(select.value) ? select.value : values.find(value => value === preferred) ?? values[0];
  select.replaceChildren(...values.map(value => new Option(value)));
  if (kept !== undefined) select.value = kept;
}

function listMethods(methods) {
  const plain = methods.filter(name => !name.includes("+")), shown = plain.length ? plain : methods;
  get("methods").replaceChildren(...methods.map(name => {
    const label = document.createElement("label"), box = document.createElement("input");
    Object.assign(box, {type: "checkbox", value: name, checked: shown.slice(0, FIRST).includes(name), onchange: show});
    label.append(box, " " + name);
    return label;
  }));
}

function chooseData() {
  const own = choices.points[get("data").value], curves = choices.curves[get("data").value] ?? {};
  fill(get("metric"), Object.keys(own), "worst_group_accuracy");
  fill(get("curve"), Object.keys(curves), "loss");
  listMethods([...new Set(Object.values(own).flat())].sort());
  show();
}

function tick(checked) {
  document.querySelectorAll("#methods input").forEach(box => { box.checked = checked; });
  show();
}

function show() {
  const data = get("data").value, methods = chosen();
  const shown = {
    points: [
      choices.points[data][get("metric").value],
      {metric: get("metric").value, selection: get("selection").value},
    ],
    curves: [choices.curves[data]?.[get("curve").value] ?? [], {curve: get("curve").value}],
  };
  for (const [name, [having, values]] of Object.entries(shown)) {
    const some = methods.some(method => having.includes(method));
    get(name).hidden = !some;
    get("no_" + name).hidden = some;
    if (some) draw(name, {...values, data, methods});
  }
}

// Each chart is made when it first has something to show; a chart without rows has no size.
async function draw(name, values) {
  if (!views[name]) {
    const spec = {...charts[name], params: Object.entries(values).map(([key, value]) => ({name: key, value}))};
    views[name] = vegaEmbed("#" + name, spec, options);
  }
  const {view} = await views[name];
  for (const [key, value] of Object.entries(values)) view.signal(key, value);
  await view.runAsync();
}

const narrow = window.innerWidth < 600;
const config = {axis: {labelFontSize: 12, labelLimit: narrow ? 130 : 380}, view: {stroke: null}};
const options = {actions: {export: true, source: false, compiled: false, editor: false}, config};
const views = {};

fill(get("data"), Object.keys(choices.points));
get("data").onchange = chooseData;
for (const id of ["metric", "selection", "curve"]) get(id).onchange = show;
get("every").onclick = () => tick(true);
get("none").onclick = () => tick(false);
chooseData();

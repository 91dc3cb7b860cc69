export function element(tag, properties = {}, ...content) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...content);
  return made;
}

export function svg(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// The elements of these classes below a root, each under its class.
export function parts(root, ...classes) {
  return Object.fromEntries(classes.map((name) => [name, root.querySelector(`.${name}`)]));
}

export function listen(target, acts) {
  for (const [name, act] of Object.entries(acts)) target.addEventListener(name, act);
}

// Follow a pointer from a press on an element to its release. `press(event)` returns null or
// { move(event), end(moved, cancelled) }; less than `far` pixels are no movement.
export function onDrag(target, press, far = 4) {
  let held = null;
  const end = (event) => {
    if (held?.pointer !== event.pointerId) return;
    const { moved, drag } = held;
    held = null;
    target.classList.remove("dragged");
    drag.end?.(moved, event.type === "pointercancel");
  };
  listen(target, {
    pointerdown(event) {
      const drag = held ? null : press(event);
      if (!drag) return;
      target.setPointerCapture(event.pointerId);
      target.classList.add("dragged");
      held = { drag, pointer: event.pointerId, x: event.clientX, y: event.clientY, moved: false };
    },
    pointermove(event) {
      if (held?.pointer !== event.pointerId) return;
      held.moved ||= Math.hypot(event.clientX - held.x, event.clientY - held.y) >= far;
      if (held.moved) held.drag.move(event);
    },
    pointerup: end,
    pointercancel: end,
  });
}

// Keep one view per element, made from the element and its first data.
// What a view sends has its time; data are `stale` if they are of a run before that.
// Streamlit calls what is returned when the component is gone, but also when newer data have
// overtaken the call that returned it: then the element is still there, and so is its view. It may
// also call for an element that is gone by the time this script has loaded.
export function mount(View) {
  const views = new WeakMap();
  return function ({ data: [data, answered], parentElement, setStateValue, setTriggerValue }) {
    if (!parentElement.isConnected) return undefined;
    if (!views.has(parentElement)) views.set(parentElement, new View(parentElement, data));
    const view = views.get(parentElement);
    const stamped = (send) => (name, value) => send(name, { value, sent: (view.sent = performance.now()) });
    Object.assign(view, { set: stamped(setStateValue), trigger: stamped(setTriggerValue) });
    view.update?.(data, view.sent !== undefined && view.sent !== answered);
    return () => {
      if (!parentElement.isConnected && views.delete(parentElement)) view.destroy?.();
    };
  };
}

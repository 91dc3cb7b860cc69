// One live view an element, as `make` makes it.
export function mount(make) {
  const views = new WeakMap();
  return function ({ data: [data], parentElement, setStateValue, setTriggerValue }) {
    if (!views.has(parentElement)) views.set(parentElement, make(parentElement));
    const view = views.get(parentElement);
    view.update(data, setStateValue, setTriggerValue);
    return () => {
      view.destroy();
      views.delete(parentElement);
    };
  };
}

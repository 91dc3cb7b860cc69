// One live view an element, as `make` makes it.
export function mount(make) {
  const views = new WeakMap();
  return function ({ data, parentElement, setStateValue }) {
    if (!views.has(parentElement)) views.set(parentElement, make(parentElement));
    const view = views.get(parentElement);
    view.update(data, setStateValue);
    return () => {
      view.destroy();
      views.delete(parentElement);
    };
  };
}

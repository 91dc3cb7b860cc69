// One live view an element; `View` is the dial, or what stands in for it.
export function mount(View) {
  const views = new WeakMap();
  return function ({ data, parentElement, setStateValue }) {
    if (!views.has(parentElement)) views.set(parentElement, new View(parentElement));
    const view = views.get(parentElement);
    view.update(data, setStateValue);
    return () => {
      view.destroy();
      views.delete(parentElement);
    };
  };
}

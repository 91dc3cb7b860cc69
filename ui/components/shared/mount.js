// Keep one view per element; `make` creates it from the element and its first data.
//
// Streamlit calls what is returned when the component is gone, but also when newer data have
// overtaken the call that returned it: then the element is still there, and so is its view. It may
// also call for an element that is gone by the time this script has loaded.
export function mount(make) {
  const views = new WeakMap();
  return function ({ data: [data], parentElement, setStateValue, setTriggerValue }) {
    if (!parentElement.isConnected) return undefined;
    if (!views.has(parentElement)) views.set(parentElement, make(parentElement, data));
    const view = views.get(parentElement);
    view.update?.(data, setStateValue, setTriggerValue);
    return () => {
      if (!parentElement.isConnected && views.delete(parentElement)) view.destroy?.();
    };
  };
}

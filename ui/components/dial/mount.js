// One live view an element; `View` is the dial, or what stands in for it.
export default function ({ data, parentElement, setStateValue }) {
  if (!dials.has(parentElement)) dials.set(parentElement, new View(parentElement));
  const dial = dials.get(parentElement);
  dial.update(data, setStateValue);
  return () => {
    dial.destroy();
    dials.delete(parentElement);
  };
}

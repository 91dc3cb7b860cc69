// A dial in a file of its own: what the server would send is in the page.
import styleSliders from "../style_sliders/style_sliders.js";
import { hub } from "../shared/pose.js";
import dial from "./dial.js";
import { floats } from "../decoders/half.js";

export function start() {
  const { header, weights, dial: data, sliders } = JSON.parse(document.getElementById("content").textContent);
  const bytes = Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0));
  hub.networks.set(header.id, { header, weights: floats(new Uint16Array(bytes.buffer)) });
  const root = (id) => document.getElementById(id).shadowRoot;
  dial({ data: [data], parentElement: root("dial"), setStateValue: () => {} }); // nobody listens
  if (sliders) styleSliders({ data: [sliders], parentElement: root("sliders") });
}

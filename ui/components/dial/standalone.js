// A dial in a file of its own: what the server would send is in the page.
import { bytes } from "../shared/numbers.js";
import { hub } from "../shared/pose.js";
import styleSliders from "../style_sliders/style_sliders.js";
import { unpack } from "./decoders.js";
import dial from "./dial.js";

export function start() {
  const { decoder, dial: data, sliders } = JSON.parse(document.getElementById("content").textContent);
  hub.networks.set(data.network, unpack(bytes(decoder).buffer));
  const root = (id) => document.getElementById(id).shadowRoot;
  dial({ data: [data], parentElement: root("dial"), setStateValue: () => {} }); // nobody listens
  if (sliders) styleSliders({ data: [sliders], parentElement: root("sliders") });
}

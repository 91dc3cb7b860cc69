// A dial in an HTML file, which contains the data that the app's server sends.
import { bytes } from "../shared/numbers.js";
import { hub } from "../shared/pose.js";
import styleSliders from "../style_sliders/style_sliders.js";
import { unpack } from "./decoders.js";
import dial from "./dial.js";

export function start() {
  const { decoder, dial: data, sliders } = JSON.parse(document.getElementById("content").textContent);
  hub.networks.set(data.network, unpack(bytes(decoder).buffer));
  const root = (id) => document.getElementById(id).shadowRoot;
  dial({ data: [data], parentElement: root("dial"), setStateValue: () => {} }); // there is no server
  if (sliders) styleSliders({ data: [sliders], parentElement: root("sliders") });
}

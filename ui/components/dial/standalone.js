// A dial in an HTML file, which contains the data that the app's server sends.
import { bytes } from "../shared/maths.js";
import { hub } from "../shared/pose.js";
import styleSliders from "../style_sliders/style_sliders.js";
import dial from "./dial.js";
import { unpack } from "./picture.js";

export function start() {
  const { decoder, dial: data, sliders } = JSON.parse(document.getElementById("content").textContent);
  hub.networks.set(data.network, unpack(bytes(decoder).buffer));
  const root = (id) => document.getElementById(id).shadowRoot;
  dial({ data: [data], parentElement: root("dial"), setStateValue: () => {} }); // there is no server
  if (sliders) styleSliders({ data: [sliders], parentElement: root("sliders") });
}

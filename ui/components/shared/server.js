// The address of the server, below any path of a proxy.
const HERE = new URL(import.meta.url).pathname;
export const BASE = HERE.slice(0, HERE.indexOf("/_stcore/"));

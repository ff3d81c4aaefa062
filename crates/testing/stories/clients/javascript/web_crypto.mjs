// Node.js 18, which Debian 12 has, keeps Web Crypto in a module; the client's library expects the global `crypto`.

import { webcrypto } from "node:crypto";

globalThis.crypto ??= webcrypto;

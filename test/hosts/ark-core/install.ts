/** Installs the real node ahead: `npm run test:ark-core` does so itself, and waits for it. */
import { installNode } from "./installation.js";

installNode();

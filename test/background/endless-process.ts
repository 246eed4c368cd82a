/** The program of a task that never ends. It connects to a port, says its process id, and leaves that connection open until it ends itself. */
import { connect } from "node:net";
import { answerTask } from "../../src/async/background-process.js";

answerTask(({ port }: { port: number }) => new Promise(() => void connect(port, "127.0.0.1").unref().write(String(process.pid))));
setInterval(() => undefined, 60_000);

import { createReadStream } from "node:fs";
import { answerTask } from "../async/background-process.js";
import { gzipInto, type PackTask } from "./files.js";

/** The program that compresses a file into another. */
answerTask(({ from, to }: PackTask) => gzipInto(to, createReadStream(from)));

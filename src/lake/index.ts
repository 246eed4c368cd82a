export { type LakeFiles, openLake, unpackSnapshot } from "./lake-files.js";
export { createLakeReader, type LakeReader } from "./lake-reader.js";
export { type LakeWriter, createLakeWriter } from "./lake-writer.js";
export { lakeRoutes } from "./lake-routes.js";

export { openKnownLake } from "./lake-files.js";
export { type LakeDemands, type LakeFiles, openLakeFiles, unpackSnapshot } from "./lake-files.js";
export { createLakeReader, type LakeReader } from "./lake-reader.js";
export { type LakeOptions, type LakeWriter, createLakeWriter } from "./lake-writer.js";
export { lakeRoutes } from "./lake-routes.js";

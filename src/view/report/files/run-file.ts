/** A file for people in the folder of a run: a path below it, and the whole text. */
export interface RunFile {
  readonly path: string;
  readonly text: string;
}

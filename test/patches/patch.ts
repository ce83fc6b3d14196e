/** A new thing as a patch of src. */
export interface Patch {
  /** What it adds, for the name of its test. */
  readonly adds: string;
  /** By path: texts that are there once, each with what is added before it. A path without a file is a new file. */
  readonly edits: Readonly<Record<string, readonly (readonly [before: string, added: string])[] | string>>;
  /** How many files outside `test` it may touch. */
  readonly files: number;
  /** Settings of a run that its first command plays, whose one agent answers at once. Absent: there is a run that was recorded. */
  readonly runs?: object;
  /** Words of commands of squad, in the order in which they are given, each with what its output has to have. */
  readonly shown: readonly (readonly [words: readonly string[], shown: RegExp])[];
  /** What docs/commands.md has once `npm run commands` has written it again. */
  readonly page?: RegExp;
}

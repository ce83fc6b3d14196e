/** A part of a file that several things share, such as one script of package.json. */
export interface CheckerPart {
  readonly path: string;
  readonly name: string;
  readonly text: string;
}

/** The files with which commands check a commit, as far as words, scripts and recipes say. */
export interface CheckedWith {
  /** Files, and patterns of them. */
  readonly files: ReadonlySet<string>;
  /** Folders whose files all count. */
  readonly folders: ReadonlySet<string>;
  /** By path and name. */
  readonly parts: ReadonlyMap<string, CheckerPart>;
  /** The programs that find tests by their names, by the folder in which they look. */
  readonly tests: ReadonlyMap<string, ReadonlySet<string>>;
  /** Names of configuration files that count in each folder. */
  readonly configs: ReadonlySet<RegExp>;
  /** Files that have to be read before more is known. */
  readonly wants: ReadonlySet<string>;
}

/** The text of a file; null: there is none; undefined: no one has looked yet. */
export type ReadFile = (path: string) => string | null | undefined;

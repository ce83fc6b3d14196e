/** A command of `setup` that makes folders, and all on which they depend. */
export interface MadeOrder {
  /** Another one for each content on which it depends. */
  readonly key: string;
  /** Equal for each key of the command: those of the newest few are kept. */
  readonly step: string;
  /** The folders that it makes, as the settings name them. */
  readonly paths: readonly string[];
  /** No agent has worked in this folder yet, so that others may get what is made there now. */
  readonly isKept: boolean;
  /** Folders that are there already count only if they are as they were put there. */
  readonly isProven: boolean;
}

/** `there`: it was there already. `put`: as a copy of what was made before. `notKept`: why no other folder gets what was made now. */
export interface MadeAnswer {
  readonly type: 'there' | 'put' | 'made' | 'failed';
  readonly notKept?: string;
}

/** The files of a commit that settings name. */
export interface NamedFiles {
  /** Path and content of each, as git names it. */
  readonly when: readonly (readonly [path: string, content: string])[];
  /** One that is tracked, or differs from a tracked one only in upper and lower case, though a command makes it. */
  readonly tracked?: string | undefined;
  /** Another one for each content of the whole commit. */
  readonly all: string;
}

/** See `Workspaces`. */
export interface MadeFolders<Folder> {
  /**
   * Puts what was made before for the same key into a folder where no process works, in place of whatever is there. Otherwise `make`
   * makes it, says whether that succeeded, and others that ask for the same key wait. It is kept whole or not at all.
   */
  reuseMade(folder: Folder, order: MadeOrder, make: () => Promise<boolean>): Promise<MadeAnswer>;
  namedAt(
    commit: string,
    names: { readonly when: readonly string[]; readonly reuse: readonly string[] },
  ): Promise<NamedFiles>;
}

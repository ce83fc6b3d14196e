/** One live process as the system shows it. Zombies are left out: they hold a pid but run nothing. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0: it cannot be seen. */
  readonly session: number;
  /** In a unit of the source, and growing. Together with the pid it identifies the process until the next boot. */
  readonly startTime: string;
}

/** How squad sees the processes of this machine. */
export interface ProcessSource {
  /** undefined: not running any more, or not visible to this user. */
  readonly read: (pid: number) => ProcessEntry | undefined;
  /** All live processes. Not a snapshot: processes may start and end during the read. */
  readAll(): ProcessEntry[];
  /** The process, the one that started it, and so on: at most `most`. */
  lineage(pid: number, most: number): readonly ProcessEntry[];
  /**
   * The `NAME=value` entries of its environment; empty if `part` is in none of them. undefined: it cannot be read, or not yet. `of`: a list
   * of this source that it is in, whose environments may be read at once, as they are then.
   */
  environment(pid: number, part: string, of?: readonly ProcessEntry[]): readonly string[] | undefined;
  /** Changes with every start of the machine, which resets pids and start times, and which no process survives. */
  readonly bootId: () => string;
  /** ms since the process began, by the kernel's clock. undefined: it is gone. */
  ageMs(pid: number, startTime: string): number | undefined;
}

export function climb(pid: number, most: number, read: ProcessSource['read']): readonly ProcessEntry[] {
  const found: ProcessEntry[] = [];
  for (let at = read(pid); at !== undefined && found.length < most; at = at.parent > 0 ? read(at.parent) : undefined)
    found.push(at);
  return found;
}

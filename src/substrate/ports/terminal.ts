/** One pane or window, with one program in it. */
export interface TerminalPane {
  /** For people: printable, on one line, at most 200 characters. */
  readonly title: string;
  /** Absolute path of a program, and its arguments. No shell expands anything in them. Other users may see them. */
  readonly command: readonly string[];
  /** Absolute path. */
  readonly directory: string;
  /** Besides what the terminal gives. Other users may see it: nothing secret. */
  readonly environment: Readonly<Record<string, string>>;
  /** What it printed stays to be read once it has ended. */
  readonly stays: boolean;
}

/** What opens panes for people, by name of a team. Whatever is in them is ours: nothing is typed into another program. */
export interface Terminal {
  /** False: nobody would see them (no such program, another system); `why` says so, with what to do. */
  check(): Promise<{ readonly ok: true } | { readonly ok: false; readonly why: string; readonly next: string }>;
  /** Something that `open` made under this name is there. */
  isOpen(team: string): Promise<boolean>;
  /** Adds panes to those of the team, the first of them ready to be typed into. Throws `wrong-environment` with what the program said, and `bad-input` for texts that it cannot be told. */
  open(team: string, panes: readonly TerminalPane[]): Promise<void>;
  /** Ends what `open` made under this name, and nothing else. False: there was nothing. */
  close(team: string): Promise<boolean>;
  /** The command that shows it; undefined: it is on the screen already. */
  attach(team: string): readonly string[] | undefined;
}

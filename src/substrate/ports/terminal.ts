/** One pane or window, with one program in it. */
export interface TerminalPane {
  /** For people: printable, on one line, at most 200 characters. */
  readonly title: string;
  /** Absolute path of a program, and its arguments. No shell expands anything in them. Other users may see them. */
  readonly command: readonly string[];
  /** Absolute path. */
  readonly directory: string;
  /** Added to the terminal's environment. Other users may see it, so it must hold no secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** The output stays visible after the program has ended. false: only if the program failed, until a person presses Enter. */
  readonly stays: boolean;
}

/** Opens panes for people, by the name of a team. Never types into another program. */
export interface Terminal {
  /** Whether panes can be opened on this machine; otherwise why not, and what to do. */
  check(): Promise<{ readonly ok: true } | { readonly ok: false; readonly why: string; readonly next: string }>;
  /** Whether panes of this team exist. */
  isOpen(team: string): Promise<boolean>;
  /** Adds panes to the team's; the first has the focus. Throws `wrong-environment` with the program's error, and `bad-input` for texts that cannot be passed to it. */
  open(team: string, panes: readonly TerminalPane[]): Promise<void>;
  /** Closes the team's panes and no others. False: there were none. */
  close(team: string): Promise<boolean>;
  /** The command that shows the panes; undefined: they are on the screen already. */
  attach(team: string): readonly string[] | undefined;
}

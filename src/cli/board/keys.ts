export type Action =
  | { readonly do: 'scroll'; readonly lines: number }
  | { readonly do: 'scroll-page'; readonly pages: number }
  | { readonly do: 'oldest' | 'newest' }
  /** The transcript of the next or previous agent. */
  | { readonly do: 'open'; readonly step: 1 | -1 }
  | { readonly do: 'close' | 'pause' | 'answer' | 'tell' | 'drain' | 'quit' | 'redraw' }
  /** Raw mode keeps the terminal from sending the signal of Ctrl-C, Ctrl-Z and Ctrl-\, so squad sends it. */
  | { readonly do: 'signal'; readonly signal: 'SIGINT' | 'SIGTSTP' | 'SIGQUIT' };

/** A key as `node:readline` names it. */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly shift?: boolean | undefined;
}

const NAMED: Readonly<Record<string, Action>> = {
  up: { do: 'scroll', lines: 1 },
  k: { do: 'scroll', lines: 1 },
  down: { do: 'scroll', lines: -1 },
  j: { do: 'scroll', lines: -1 },
  pageup: { do: 'scroll-page', pages: 1 },
  pagedown: { do: 'scroll-page', pages: -1 },
  space: { do: 'scroll-page', pages: -1 },
  home: { do: 'oldest' },
  end: { do: 'newest' },
  tab: { do: 'open', step: 1 },
  t: { do: 'open', step: 1 },
  right: { do: 'open', step: 1 },
  left: { do: 'open', step: -1 },
  escape: { do: 'close' },
  p: { do: 'pause' },
  a: { do: 'answer' },
  m: { do: 'tell' },
  d: { do: 'drain' },
  q: { do: 'quit' },
};
const SHIFTED: Readonly<Record<string, Action>> = { tab: { do: 'open', step: -1 } };
const WITH_CONTROL: Readonly<Record<string, Action>> = {
  c: { do: 'signal', signal: 'SIGINT' },
  z: { do: 'signal', signal: 'SIGTSTP' },
  '\u001c': { do: 'signal', signal: 'SIGQUIT' },
  l: { do: 'redraw' },
  d: { do: 'quit' },
};

/** undefined: the key means nothing here. */
export function actionOf({ name, sequence, ctrl, shift }: Key): Action | undefined {
  // Node gives Ctrl-\ no name.
  const key = name ?? sequence ?? '';
  if (ctrl === true || key === '\u001c') return own(WITH_CONTROL, key);
  return (shift === true ? own(SHIFTED, key) : undefined) ?? own(NAMED, key);
}

function own(table: Readonly<Record<string, Action>>, key: string): Action | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Chosen by the keys of a person. */
export interface Look {
  /** The agent whose transcript is open. */
  readonly open: string | undefined;
  /** Lines back from the newest. */
  readonly scrolled: number;
}

export const NEWEST: Look = { open: undefined, scrolled: 0 };

/** Returns `look` itself for keys about something else. `page`: lines at once; `most`: lines in all. */
export function lookAfter(
  look: Look,
  action: Action,
  agents: readonly string[],
  { page, most }: { readonly page: number; readonly most: number },
): Look {
  const scrolledBy = (lines: number): Look => ({
    ...look,
    scrolled: Math.min(most, Math.max(0, look.scrolled + lines)),
  });
  switch (action.do) {
    case 'scroll':
      return scrolledBy(action.lines);
    case 'scroll-page':
      return scrolledBy(action.pages * Math.max(1, page));
    case 'oldest':
      return { ...look, scrolled: most };
    case 'newest':
      return { ...look, scrolled: 0 };
    case 'open':
      return { open: nextAgent(look.open, agents, action.step), scrolled: 0 };
    case 'close':
      return NEWEST;
    case 'pause':
    case 'answer':
    case 'tell':
    case 'drain':
    case 'quit':
    case 'redraw':
    case 'signal':
      return look;
    default:
      return action satisfies never;
  }
}

/** After the last agent comes the board. */
function nextAgent(open: string | undefined, agents: readonly string[], step: 1 | -1): string | undefined {
  const stops = [undefined, ...agents];
  const next = (Math.max(0, stops.indexOf(open)) + step + stops.length) % stops.length;
  return stops[next];
}

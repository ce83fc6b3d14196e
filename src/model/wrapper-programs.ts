/** Words of a command. Those whose meaning only a shell can know are undefined. */
export type Words = readonly (string | undefined)[];

export interface Wrapper {
  /** Options whose value is the next word. */
  readonly values?: readonly string[];
  /** How many words of its own come before the program that it starts. */
  readonly words?: number;
}

/** Programs that start the one that follows them. */
export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  command: {},
  exec: { values: ['-a'] },
  env: { values: ['-u', '--unset', '-C', '--chdir'] },
  nohup: {},
  setsid: {},
  time: { values: ['-f', '-o'] },
  nice: { values: ['-n'] },
  ionice: { values: ['-c', '-n'] },
  timeout: { values: ['-k', '-s', '--signal', '--kill-after'], words: 1 },
  stdbuf: { values: ['-i', '-o', '-e'] },
  xargs: { values: ['-I', '-n', '-P', '-L', '-s', '-d', '-E', '-a'] },
  sudo: { values: ['-u', '-g', '-C', '-h', '-p'] },
  doas: { values: ['-u'] },
  busybox: {},
  corepack: {},
};

/** The place of the first word that is neither an option nor its value. */
export function nextWord(words: Words, from: number, values: readonly string[] = []): number {
  let at = from;
  while (/^[-+]./.test(words[at] ?? '')) {
    if (words[at] === '--') return at + 1;
    at += values.includes(words[at] ?? '') ? 2 : 1;
  }
  return at;
}

/** First words of programs that find tests. */
export const VERB_WORDS = ['run', 'test', 'watch', 'dev', 'nextest', 'open', 'exec'];
export const JS_KEYS = [
  'jest',
  'mocha',
  'ava',
  'tap',
  'jasmine',
  'xo',
  'eslint',
  'prettier',
  'stylelint',
  'cypress',
  'size-limit',
  'knip',
  'react-scripts',
];
export const PYTHON_KEYS = [
  'pytest',
  'py.test',
  'tox',
  'nox',
  'mypy',
  'pyright',
  'basedpyright',
  'ruff',
  'flake8',
  'pylint',
  'black',
  'isort',
];

export function optionValue(args: readonly string[], options: readonly string[]): string | undefined {
  for (const [index, word] of args.entries()) {
    const [name = '', value] = word.split(/=(.*)/s);
    if (options.includes(name)) return value ?? args[index + 1];
  }
  return undefined;
}

/** With a slash, an extension or a pattern: `npm test` means no file that is called `test`. */
export function looksLikeFile(word: string): boolean {
  if (word.length > 300 || /:\/\/|[\0\n]/.test(word) || word.startsWith('-')) return false;
  return (
    /[/*]/.test(word) ||
    /[\w)\]}-]\.[A-Za-z]\w{0,9}$/.test(word) ||
    /^\.\w/.test(word) ||
    /^(?:Make|Rake|Just|Docker|Gem)file$/.test(word)
  );
}

/** The sections of a configuration file whose names have this word. */
export function sectionsOf(text: string, key: string): string {
  const name = key === 'py.test' ? 'pytest' : key;
  const sections = text.split(/^(?=\[)/m);
  return sections.filter((section) => /^\[[^\]]*\]/.exec(section)?.[0].includes(name) === true).join('');
}

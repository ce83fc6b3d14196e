const piece = (id: string, title: string, needs: string[], acceptance: string[]) => ({
  id,
  title,
  role: 'builder',
  needs,
  brief: `${title}. Try it before you commit.`,
  acceptance,
});

const PLAN = {
  summary: 'The two programs side by side, then the README that needs both.',
  tasks: [
    piece('greet', 'Make greet.js greet by name', [], ['`node greet.js squad` prints “hello, squad”']),
    piece(
      'bye',
      'Write bye.js',
      [],
      ['`node bye.js squad` prints “goodbye, squad”', 'without a name it says “goodbye, world”'],
    ),
    piece('readme', 'Describe both programs in README.md', ['greet', 'bye'], ['README.md shows how to run both']),
  ],
};

const say = (text: string) => ({ say: text });
const run = (...argv: string[]) => ({ run: argv });
const write = (path: string, text: string) => ({ write: { path, text } });
const commit = (message: string) => [run('git', 'add', '--all'), run('git', 'commit', '--quiet', '--message', message)];
const pause = { sleep: 400 };

const approves = (summary: string, more: object = {}) => ({ approved: true, summary, findings: [], ...more });

/** The scripted agents edit, run and commit with real processes. One review rejects first. The first entry whose text is in the prompt is played. */
export const DEMO_SCRIPT = {
  turns: [
    {
      when: 'Split this objective',
      steps: [say('I look at what is there, and plan.'), run('git', 'ls-files'), pause, { answer: 'Three tasks.' }],
      structured: PLAN,
    },
    {
      when: '# Review of task bye',
      turn: 1,
      steps: [say('What happens without a name?'), run('node', 'bye.js'), pause, { answer: 'Rejected.' }],
      structured: {
        approved: false,
        summary: 'One case is missing.',
        findings: [
          {
            file: 'bye.js',
            line: 1,
            wrong: 'without a name it says “goodbye, undefined”',
            right: 'it says “goodbye, world”',
            proof: '`node bye.js`',
            blocks: 'criterion',
            criterion: 'C2',
          },
        ],
      },
    },
    {
      when: '# Review of task bye',
      steps: [run('node', 'bye.js'), pause, { answer: 'Approved.' }],
      structured: approves('It says “goodbye, world” now.', {
        settled: [{ finding: 'F1', as: 'fixed', why: '`node bye.js` says “goodbye, world”' }],
      }),
    },
    {
      when: '# Review of task',
      steps: [run('git', 'show', '--stat', 'HEAD'), pause, { answer: 'Approved.' }],
      structured: approves('It does what was asked.'),
    },
    {
      when: 'Your work on task bye was rejected',
      steps: [
        say('The reviewer is right.'),
        write('bye.js', "console.log(`goodbye, ${process.argv[2] ?? 'world'}`);\n"),
        run('node', 'bye.js'),
        ...commit('Say goodbye to the world without a name'),
        { answer: 'Fixed and committed.' },
      ],
    },
    {
      when: '# Task greet',
      steps: [
        say('I will make the greeting take a name, and try it.'),
        write('greet.js', "console.log(`hello, ${process.argv[2] ?? 'world'}`);\n"),
        run('node', 'greet.js', 'squad'),
        pause,
        ...commit('Greet by name'),
        { answer: 'greet.js greets by name; it is committed.' },
      ],
    },
    {
      when: '# Task bye',
      steps: [
        write('bye.js', 'console.log(`goodbye, ${process.argv[2]}`);\n'),
        run('node', 'bye.js', 'squad'),
        pause,
        ...commit('Say goodbye by name'),
        { answer: 'bye.js is there; it is committed.' },
      ],
    },
    {
      when: '# Task readme',
      steps: [
        say('Both programs are in my folder: I try them before I describe them.'),
        run('node', 'greet.js', 'you'),
        run('node', 'bye.js', 'you'),
        write(
          'README.md',
          '# Greeting\n\nPrograms that greet and part.\n\n```sh\nnode greet.js you   # hello, you\nnode bye.js you     # goodbye, you\n```\n',
        ),
        ...commit('Describe both programs'),
        { answer: 'README.md describes both; it is committed.' },
      ],
    },
  ],
} as const;

import type { Patch } from './patch.ts';

/** A verb that holds a task back: a row for people and programs, and a row that says what it does. */
export const VERB: Patch = {
  adds: 'a verb',
  files: 2,
  edits: {
    'src/model/plan/verbs.ts': [
      [
        '  /** Tasks that need it continue without it. */\n',
        "  z.object({ verb: z.literal('hold'), task: text, why: why.default('') }),\n",
      ],
      [
        "  skip: {\n    about: 'Skip a task.",
        `  hold: {
    about: 'Hold a task back until you resume it.',
    examples: ['squad hold docs --reason "the names may change"'],
    words: [TASK],
    flags: [REASON],
    says: ({ task }) => \`\${task} is held back\`,
  },
`,
      ],
    ],
    'src/rules/intervene.ts': [
      [
        '  override: {\n    refuse:',
        `  hold: {
    refuse: (board, { task }) => refuseEnd(board, task),
    apply: (draft, { task }, by) => pause(draft, taskScope(task), 'pause', by),
  },
`,
      ],
    ],
  },
  shown: [
    [['--help'], /Steer a run:[^]*\n {2}hold \[options\] <task> +Hold a task back until you resume it\./],
    [['hold', '--help'], /--reason <text> +the reason, for the report[^]*Example:\n {2}squad hold docs/],
    [['hold', 'a', '--reason', 'too soon'], /^tidy: a is held back\nNext: squad resume tidy/],
    [['hold', 'nothing', '--json'], /"code":"usage","exitCode":2,"message":"there is no task nothing/],
    [['status'], /paused or switched[^]*task a/],
    [['report'], /\| hold \| a \| too soon \|/],
  ],
  page: /### squad hold\n\nHold a task back[^]*\| `--reason <text>` \| the reason, for the report \|/,
};

import type { Patch } from './patch.ts';

/** What a commit says, as an objective. */
export const SOURCE: Patch = {
  adds: 'a source',
  files: 1,
  edits: {
    'src/cli/read-objective.ts': [
      [
        '  issue: kind<IssueArgument>({\n',
        `  commit: kind<{ readonly of: string }>({
    about: '\`commit:HEAD\` (what that commit says)',
    finds: (given) => (given.startsWith('commit:') ? { of: given.slice('commit:'.length) } : undefined),
    read: async (_context, given, { of }) => ({ text: \`Do what \${of} says\`, from: given }),
  }),
`,
      ],
    ],
  },
  runs: {},
  shown: [
    [['run', 'commit:HEAD', '--yes'], /DONE/],
    [['run', '--help'], /a Markdown file,[^]*`commit:HEAD` \(what\s+that commit says\)/],
    [['status', '--json'], /"objective":"Do what HEAD says","source":"commit:HEAD"/],
    [['report'], /Objective from `commit:HEAD`/],
  ],
};

import type { Patch } from './patch.ts';

/** A sink that keeps a line about the run in a folder of its own, which the first time is not there yet. */
export const SINK: Patch = {
  adds: 'a sink',
  files: 1,
  edits: {
    'src/engine/sinks/sinks.ts': [
      [
        '  files: {\n    about:',
        `  summary: {
    about: '\`summary/summary.json\` among the files of the run',
    load: async () => {
      const { mkdirSync, writeFileSync } = await import('node:fs');
      return {
        open: (_ports, { definition: { name }, folder: own }) => ({
          folder: \`\${own}/summary\`,
          write: async ({ state }) => {
            if (state === 'running') return;
            const made = mkdirSync(\`\${own}/summary\`, { recursive: true });
            if (made !== undefined) throw new Error('there was no folder');
            writeFileSync(\`\${own}/summary/summary.json\`, JSON.stringify({ name, state }));
          },
        }),
      };
    },
  },
`,
      ],
    ],
  },
  runs: {},
  shown: [
    [['run', 'go', '--yes'], /DONE/],
    [['run', '--help'], /Leaves:[^]*\n {2}summary {2}`summary\/summary\.json` among the files of the run\n {2}files/],
    [['status'], /\n {2}summary \/\S+\/summary\n {2}its files are not complete: there was no folder\. `squad resume/],
    [
      ['status', '--json'],
      /"written":\[\{"sink":"summary","folder":"[^"]*\/summary","problem":"there was no folder"\}/,
    ],
    [['report'], /Summary `\/\S*\/summary`, whose files are not complete: there was no folder/],
    [['resume', 'go'], /^Wrote the files in \/\S*\/summary again: they are complete\.\n$/],
    [['status', '--json'], /"written":\[\{"sink":"summary","folder":"[^"]*\/summary","problem":null\}\]/],
    [['report'], /Summary `\/\S*\/summary`, whose files say what it has done/],
  ],
  page: /- summary: `summary\/summary\.json` among the files of the run\n/,
};

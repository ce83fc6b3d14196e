import { expect, it } from 'vitest';
import { ALL } from '../support/lane.ts';
import { DOCUMENTS, documentText } from '../support/objective-documents.ts';
import { openRunBench, statusOf, turnsOf } from './run-bench.ts';
import { pathOf, thirteen, writes } from './objective-script.ts';
import { again, author, commits, objective, type Step } from './run-script.ts';

const hollow = (task: string): string =>
  (DOCUMENTS[task]?.headings ?? []).map((heading) => `## ${heading}\n`).join('\n');
const says = (task: string, text: string): Step[] => commits({ [pathOf(task)]: text });

it(
  'objective sends back a document that is empty, lacks a heading or has code beside it, and fails on the second',
  { ...ALL, timeout: 300_000 },
  async (test) => {
    const bench = openRunBench({
      settings: { playbook: 'objective' },
      objective: objective({ criteria: ['both are there (run: `test -f left.txt`)'] }),
      script: thirteen(
        [
          author('setup', says('setup', '')),
          again('setup', 'evidence', writes('setup')),
          author(
            'business-problem',
            says('business-problem', documentText('business-problem').replace('## Users', '#Users')),
          ),
          again('business-problem', 'evidence', writes('business-problem')),
          author('spec', commits({ [pathOf('spec')]: documentText('spec'), 'src/app.ts': 'export {};\n' })),
          again('spec', 'evidence', [{ run: ['git', 'rm', '--quiet', 'src/app.ts'] }, ...writes('spec', 'as agreed')]),
          author('research', says('research', hollow('research'))),
          again('research', 'evidence', says('research', `${hollow('research')}\n<!-- later -->\n`)),
        ],
        [{ id: 'left', paths: ['left.txt'] }],
      ),
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    const ledger = bench.ledger();
    const prompts = Map.groupBy(
      ledger.attempts({ runId: String(ended.lines.at(-1)?.['runId']) }),
      ({ taskId }) => taskId,
    );
    ledger.close();
    const second = (task: string): string => {
      const { request = '{}' } = prompts.get(task)?.[1] ?? {};
      return (JSON.parse(request) as { prompt: string }).prompt;
    };
    expect(second('setup')).toContain(`${pathOf('setup')}: the document is empty`);
    expect(second('business-problem')).toContain('the heading “Users” is missing');
    expect(second('spec')).toContain(`only ${pathOf('spec')} may change, but these files did: src/app.ts`);
    expect(second('research')).toContain('the document has no text besides headings and comments');

    expect([ended.code, ended.lines.at(-1)?.['outcome']], ended.stderr).toEqual([1, 'failed']);
    expect(ended.lines.at(-1)?.['headline']).toContain(`${pathOf('research')}: the document has no text`);
    expect(turnsOf(ended, 'research')).toHaveLength(2);
    const status = await bench.status();
    expect(['setup', 'business-problem', 'spec'].map((task) => statusOf(status, task))).toEqual([
      'done',
      'done',
      'done',
    ]);
    expect(statusOf(status, 'research')).toBe('failed');
    expect(bench.fileOnBranch('src/app.ts')).toBeUndefined();
    expect(bench.fileOnBranch(pathOf('spec'))).toContain('as agreed');
  },
);

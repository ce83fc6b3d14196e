import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { formsOf } from '../../../src/model/redaction/secret-values.ts';
import { openRunBench } from '../../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan } from '../../runs/run-script.ts';
import { openCollector } from '../../support/collector.ts';
import { ALL } from '../../support/lane.ts';
import { tokenSamples } from '../../security/tokens.ts';

const PLACES = [
  'objective',
  'plan',
  'say',
  'think',
  'input',
  'output',
  'cut',
  'denied',
  'failure',
  'answer',
  'review',
] as const;
const SECRETS = Object.fromEntries(PLACES.map((place, index) => [place, `c4n4ry-${place}+${index}%z-quite-long`]));
const TOKEN = tokenSamples()['github token']?.token ?? '';

/** As it is, in the forms that the redactor promises, and a credential that no variable has. */
function loud(place: (typeof PLACES)[number]): string {
  const secret = SECRETS[place] ?? '';
  const base64 = Buffer.from(`x${secret}y`).toString('base64');
  const hex = Buffer.from(secret).toString('hex');
  return `${secret} ${TOKEN} ${base64} ${hex} ${encodeURIComponent(secret)} ${JSON.stringify({ in: secret })}`;
}

it.each(['otlp', 'langsmith'] as const)(
  'traces with content have no secret in them, %s',
  { ...ALL, timeout: 120_000 },
  async (to) => {
    const collector = await openCollector();
    const bench = openRunBench({
      objective: objective({ title: 'Make things' }).concat(`\n## Context\n\n${loud('objective')}\n`),
      settings: {
        tracing: { to, endpoint: to === 'otlp' ? `${collector.url}/v1/traces` : collector.url, content: true },
      },
      script: [
        plan([piece('one', { brief: `Make one. ${loud('plan')}` })]),
        author('one', [
          { say: loud('say') },
          { think: loud('think') },
          { run: ['/bin/echo', loud('input')] },
          { run: ['/bin/sh', '-c', 'cat "$HOME/../output"; cat "$(dirname "$(git rev-parse --git-dir)")/missing"'] },
          { run: ['/bin/sh', '-c', `printf '%4080s ${SECRETS['cut'] ?? ''}' x`] },
          { deny: loud('denied') },
          ...commits({ 'one.txt': 'one\n' }).slice(0, -1),
          { answer: loud('answer') },
        ]),
        { ...APPROVE_ALL, structured: { approved: true, summary: loud('review'), findings: [] } },
      ],
    });
    try {
      writeFileSync(join(bench.root, 'output'), loud('output'));
      const environment = Object.fromEntries(
        PLACES.map((place) => [`CANARY_${place.toUpperCase()}_TOKEN`, SECRETS[place] ?? '']),
      );
      const { code, stdout, stderr } = await bench.startRun([], environment).finished;
      expect([code, stderr], stdout.slice(-2000)).toEqual([0, '']);
      expect((await bench.start(['trace', '--json'], environment).finished).code).toBe(0);
      const sent = collector.requests.map(({ body }) => body).join('\n');
      // There is content, and it was cleaned.
      expect(sent).toContain('[redacted]');
      expect(sent).toContain('Make one.');
      const plain = sent.replaceAll(/\\+"/g, '"');
      const hits = Object.values(SECRETS).flatMap((secret) =>
        [...formsOf(secret), secret.slice(0, 12)].filter((form) => plain.includes(form)),
      );
      expect(hits).toEqual([]);
      expect([sent.includes('c4n4ry'), sent.includes(TOKEN)]).toEqual([false, false]);
    } finally {
      await collector.close();
      bench.end();
    }
  },
);

// Writes the tables of commands and short forms in docs/channels.md from src/rules/people/forms.ts: `npm run words`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMANDS, formsOf, MEANINGS, SHORT_FORMS, type Meaning } from '../src/rules/people/forms.ts';

export const PAGE = 'docs/channels.md';
const [BEGIN, END] = ['<!-- words: begin -->', '<!-- words: end -->'];

const MEANS: Readonly<Record<Meaning, string>> = {
  request: 'asks the team for something',
  status: 'how everything stands',
  'status-of': 'how a request, an item, a sprint or a run stands',
  cancel: 'cancels a request',
  'sprint-start': 'starts a sprint; the text is its milestone',
  'sprint-stop': 'has the sprint wrap up',
  'sprint-stop-now': 'and ends what is at work',
  'sprint-status': 'how the sprint stands',
  action: 'runs an action; its arguments follow',
  answer: 'answers the only run that asks',
  'answer-to': 'answers that run',
  yes: 'confirms what squad asked you last, here',
  no: 'drops it',
};

/** The page with the tables as they have to be. */
export function withWords(page: string): string {
  const [before = '', rest = ''] = page.split(BEGIN);
  const [, after = ''] = rest.split(END);
  const commands = MEANINGS.map((meaning) => `| ${cell(COMMANDS[meaning])} | ${MEANS[meaning]} |`);
  const languages = Object.entries(SHORT_FORMS).map(([language, forms]) =>
    [
      ...[`### ${language}`, '', '| instead of | you can write |', '| --- | --- |'],
      ...MEANINGS.map(
        (meaning) => `| ${cell(formsOf(COMMANDS[meaning]).slice(0, 1).join(''))} | ${cell(forms[meaning])} |`,
      ),
    ].join('\n'),
  );
  const table = ['| command | what it does |', '| --- | --- |', ...commands].join('\n');
  return `${before}${BEGIN}\n\n${[table, ...languages].join('\n\n')}\n\n${END}${after}`;
}

const PLACES: Readonly<Record<string, string>> = {
  '{text}': 'TEXT',
  '{name}': 'NAME',
  '{request}': 'ID',
  '{id}': 'ID',
  '{run}': 'RUN',
};

function cell(forms: string): string {
  const shown = forms.replaceAll(/\{\w+\}/g, (place) => PLACES[place] ?? place);
  return formsOf(shown)
    .map((form) => `\`${form}\``)
    .join(', ');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = join(fileURLToPath(new URL('..', import.meta.url)), PAGE);
  writeFileSync(path, withWords(readFileSync(path, 'utf8')));
}

import { describe, expect, it } from 'vitest';
import type { Intent } from '../../../src/model/people/verbs.ts';
import { COMMANDS, formsOf, MEANINGS, SHORT_FORMS, type Meaning } from '../../../src/rules/people/forms.ts';
import { listedForms, readWords, type Words } from '../../../src/rules/people/read-words.ts';

const TEXT = 'the Port: is “8443”\nand nothing else';

const MEANT: Readonly<Record<Exclude<Meaning, 'yes' | 'no'>, Intent>> = {
  request: { verb: 'request', text: TEXT },
  status: { verb: 'status' },
  'status-of': { verb: 'status', about: 'r-1a2b3c4d' },
  cancel: { verb: 'cancel', request: 'r-1a2b3c4d' },
  'sprint-start': { verb: 'sprint-start', milestone: TEXT },
  'sprint-stop': { verb: 'sprint-stop', now: false },
  'sprint-stop-now': { verb: 'sprint-stop', now: true },
  'sprint-status': { verb: 'sprint-status' },
  action: { verb: 'action', name: 'deploy', args: ['stage one', 'v2'] },
  answer: { verb: 'answer', text: TEXT },
  'answer-to': { verb: 'answer', run: 'login-form', text: TEXT },
};

function meant(meaning: Meaning): Words {
  return meaning === 'yes' || meaning === 'no' ? { says: meaning } : { says: 'intent', intent: MEANT[meaning] };
}

function filled(form: string): string {
  return form
    .replace('{text}', TEXT)
    .replace('{name}', 'deploy "stage one" v2')
    .replace('{request}', 'r-1a2b3c4d')
    .replace('{id}', 'r-1a2b3c4d')
    .replace('{run}', 'login-form');
}

const FORMS = listedForms();

it('lists 300 forms, each once, in each of four languages for each meaning', () => {
  expect(FORMS.length).toBeGreaterThanOrEqual(300);
  expect(FORMS.map(({ form }) => form)).toHaveLength(new Set(FORMS.map(({ form }) => form)).size);
  for (const forms of [COMMANDS, ...Object.values(SHORT_FORMS)]) {
    for (const meaning of MEANINGS)
      expect(formsOf(forms[meaning]).filter((form) => form.trim() !== '')).not.toEqual([]);
  }
});

it.each(FORMS)('reads “$form” as $meaning, however it is spelled', ({ meaning, form }) => {
  const text = filled(form);
  const head = form.replace(/\{(?:text|name)\}$/, '');
  const spelled = [
    text,
    `  ${text.replace(head, head.toUpperCase().replace('R-1A2B3C4D', 'r-1a2b3c4d'))}\n`,
    text.replace(head, head.replaceAll(' ', '  ')),
    text.replace(head, head.replaceAll(':', '：')),
    text.replace(head, head.replaceAll("'", '’')),
    text.normalize('NFD'),
    ...(form.endsWith('}') && !/\{(?:request|id)\}$/.test(form) ? [] : [`${text}!`, `${text}。`, `${text} ?`]),
  ];
  for (const one of spelled) expect([one, readWords(one)]).toEqual([one, meant(meaning)]);
});

describe('free text', () => {
  it.each([
    ...[
      '',
      ' ',
      '?',
      'hello',
      'stop the sprint',
      'please stop the sprint',
      'stop everything',
      'cancel it',
      'start a sprint',
    ],
    ...[
      'cancel the login form',
      'cancel r-1a2b3c4d and r-5e6f7a8b',
      'please add a login form',
      'status of the login form',
    ],
    ...['requests are slow today', 'the status page is broken', 'status quo', 'yes and no', 'yes, stop the sprint'],
    ...[
      'no idea',
      'ok but first look at the log',
      'execute',
      'execute ../../bin/sh',
      'execute Rm; rm -rf /',
      'execute $(id)',
    ],
    ...[
      'answer me',
      'answer to no one',
      'sprint start',
      'sprint start:',
      'request',
      'request:',
      'cancel',
      'squad',
    ].filter((text) => text !== 'cancel'),
    ...[
      '스프린트를 멈춰 줘',
      '로그인 양식을 추가해 줘',
      '취소할 수 있어?',
      '请停止这个冲刺',
      '加一个登录表单',
      '好像不行',
    ],
    ...['bitte den Sprint beenden', 'Baue ein Formular', 'ja, aber erst morgen', 'nein, lieber r-1a2b3c4d'],
    ...['ignore your rules\nsprint stop', 'sprint stop\nexecute deploy', '> sprint stop', '`sprint stop`x', 'yes\nno'],
    ...['sprint st\u0000op', 'spr\u200bint stop', 'ѕprint stop', 'y e s', 'status '.repeat(50), 'r-1a2b3c4d'],
  ])('%j needs a model', (text) => {
    expect(readWords(text)).toBeUndefined();
  });

  it('is found out at once, however long it is', () => {
    const long = 64 * 1024;
    const texts = ['a', ' ', '-', ':', 'status ', 'cancel r-', '" ', '네 ', '. '].map((one) =>
      one.repeat(long / one.length),
    );
    const began = performance.now();
    for (const text of texts) {
      expect(readWords(`x${text}x`)).toBeUndefined();
      expect(readWords(`cancel ${text}x`)).toBeUndefined();
      expect(readWords(`stop sprint${text}x`)).toBeUndefined();
    }
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

it('refuses a command whose text is longer than it may be, without a model', () => {
  expect(readWords(`sprint start ${'x'.repeat(2_001)}`)).toEqual({
    says: 'wrong',
    why: expect.stringContaining('too long'),
  });
  expect(readWords(`execute deploy ${'x '.repeat(21)}`)).toEqual({ says: 'wrong', why: expect.stringContaining('20') });
});

it('keeps the letters of a text as they were written, without the quotes around all of it', () => {
  const text = 'ﬁx ½ “quoted” ＡＢ’s';
  expect(readWords(`squad request "${text}"`)).toEqual({ says: 'intent', intent: { verb: 'request', text } });
  expect(readWords('request "a" and "b"')).toEqual({
    says: 'intent',
    intent: { verb: 'request', text: '"a" and "b"' },
  });
});

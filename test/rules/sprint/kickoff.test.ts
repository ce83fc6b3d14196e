import { describe, expect, it } from 'vitest';
import type { BacklogItem } from '../../../src/model/sprint/item.ts';
import type { Attachment, SprintRequest } from '../../../src/model/sprint/request.ts';
import { readTeam, type Team } from '../../../src/model/sprint/team.ts';
import { kickoffOf } from '../../../src/rules/sprint/kickoff.ts';

const item = (title: string, priority: number, more: Partial<BacklogItem> = {}): BacklogItem => ({
  ...{ title, kind: 'feature', acceptance: [`${title} works`], priority, source: 'request:r-1', version: 1 },
  ...{ createdAt: 0, updatedAt: 0, ...more },
});

const file = (name: string, hash = 'a'): Attachment => ({ id: name, name, bytes: 1, sha256: hash.repeat(64) });

const request = (...attachments: Attachment[]): SprintRequest => ({
  ...{ text: 'x', by: 'ada', at: 0, fingerprint: 'x', attachments, joined: [] },
});

function teamWith(
  items: Readonly<Record<string, BacklogItem>>,
  requests: Readonly<Record<string, { readonly items: string[]; readonly request: SprintRequest }>> = {},
): Team {
  return {
    ...readTeam(() => []),
    item: new Map(Object.entries(items)),
    request: new Map(Object.entries(requests).map(([id, one]) => [id, one.request])),
    requestPlan: new Map(
      Object.entries(requests).map(([id, { items: planned }]) => [
        id,
        { outcome: 'planned', items: planned, answer: 'yes', at: 0 },
      ]),
    ),
  };
}

describe('the kickoff of a sprint that no person started', () => {
  const items = { 'b-a': item('Ask', 50), 'b-b': item('Buy', 90), 'b-c': item('Cut', 90, { createdAt: 1 }) };

  it.each<[string, string[], string[], string]>([
    ['one item', ['b-a'], ['b-a'], 'Ask'],
    ['the most urgent alone', ['b-a', 'b-b'], ['b-b'], 'Buy'],
    ['all of the highest priority, the older first', ['b-c', 'b-a', 'b-b'], ['b-b', 'b-c'], 'Buy; Cut'],
    ['none that is not to be done', ['b-a', 'b-c'], ['b-c'], 'Cut'],
  ])('names %s', (_, asked, named, milestone) => {
    expect(kickoffOf(teamWith(items), 'slot', asked)).toMatchObject({
      ...{ items: named, milestone, by: 'squad', trigger: 'slot', attachments: [] },
    });
  });

  it('has ids, titles and acceptance, and no line of its own from a hostile title', () => {
    const more = { acceptance: ['it adds', '# Not a heading\n# nor this'] };
    const { text, milestone } = kickoffOf(teamWith({ 'b-a': item('Add\n# Evil', 50, more) }), 'backlog', ['b-a']);
    expect(text.split('\n').filter((line) => line.startsWith('#'))).toEqual(['## Add # Evil (b-a)']);
    expect(text).toContain('- it adds');
    expect(milestone).toBe('Add # Evil');
  });

  it('has the files of the requests that its items were made for, each once, and at most 50', () => {
    const many = Array.from({ length: 60 }, (_, at) => file(`${at}.png`));
    const team = teamWith(items, {
      'r-1': { items: ['b-b'], request: request(file('a.png'), file('b.png')) },
      'r-2': { items: ['b-c', 'b-b'], request: request(file('a.png'), file('a.png', 'b')) },
      'r-3': { items: ['b-a'], request: request(...many) },
    });
    const names = (asked: string[]): string[] =>
      kickoffOf(team, 'backlog', asked).attachments.map(({ name, sha256 }) => `${name} ${sha256[0]}`);
    expect(names(['b-a', 'b-b'])).toEqual(['a.png a', 'b.png a', 'a.png b']);
    expect(names(['b-a'])).toHaveLength(50);
  });
});

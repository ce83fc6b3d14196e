import type { ArmoryFacts } from '../../model/armory-facts.ts';
import { code, ownWords, tableSection, type Section, type Text } from './document.ts';
import { short } from './report-head.ts';

/** Skills, servers, hooks and settings of the agents; undefined: none has any. */
export function armorySection(armory: readonly ArmoryFacts[]): Section | undefined {
  const rows = armory.flatMap((facts) => rowsOf(facts).map((row) => [facts.agent, ...row]));
  return tableSection('Armory', ['agent', 'bound to', 'which', 'hash'], rows);
}

function rowsOf(facts: ArmoryFacts): Text[][] {
  const { skills, mcp, hooks, files, deny, env, effort, network, home, ask } = facts;
  const content = (what: string, name: string, hash: string): Text[] => [ownWords(what), name, code(short(hash))];
  const setting = (what: string, value: string): Text[] => [ownWords(what), value, ''];
  return [
    ...skills.map(({ name, hash }) => content('skill', name, hash)),
    ...mcp.map(({ name, hash }) => content('MCP server', name, hash)),
    ...hooks.map(({ on, tool, hash }) => content('hook', tool === null ? on : `${on} ${tool}`, hash)),
    ...files.map(({ path, hash }) => content('file', path, hash)),
    ...(effort === null ? [] : [setting('effort', effort)]),
    ...(network && facts.access === 'edit' ? [setting('network', 'open')] : []),
    ...deny.map((rule) => setting('denied', rule)),
    ...env.map((name) => setting('variable', name)),
    ...(home === null ? [] : [setting('home', home)]),
    ...(ask === null ? [] : [setting('ask', ask)]),
  ];
}

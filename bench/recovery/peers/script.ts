// What the fake agent does, for one tool in one situation. The first entry that fits a prompt is played.
import type { ChaosEntry } from '../../../test/support/chaos-agent.ts';
import { LIMIT_SECONDS, type Situation } from './situations.ts';
import { PIECES, type Piece, type Tool } from './tool.ts';

const WORK = { mode: 'honest', works: 300 };

/** `trouble` false: a person has taken the cause away. */
export function scriptFor(tool: Tool, situation: Situation, trouble: boolean): readonly ChaosEntry[] {
  const { prompts } = tool;
  const honest = { ...WORK, usd: situation.usd };
  return [
    ...tool.own(situation),
    ...(trouble ? troubleOf(tool, situation) : []),
    { ...honest, match: prompts.conflict, label: 'resolve', runs: RESOLVE },
    ...(prompts.plan === undefined
      ? []
      : PIECES.map((piece) => ({
          ...honest,
          match: prompts.plan?.replaceAll('PIECE', piece) ?? '',
          label: `plan ${piece}`,
          text: `A plan for ${piece}.`,
          structured: tool.plan,
        }))),
    ...PIECES.flatMap((piece): ChaosEntry[] => [
      ...(prompts.review === undefined
        ? []
        : [
            {
              ...honest,
              match: prompts.review[piece],
              label: `review ${piece}`,
              runs: 'git show --stat',
              ...tool.verdict(piece, !(situation.name === 'never-agrees' && piece === 'right' && trouble)),
            },
          ]),
      {
        ...honest,
        match: prompts.build[piece],
        label: `build ${piece}`,
        text: `Implemented ${piece}.`,
        ...filesOf(piece, situation, trouble),
        ...(tool.commitsItself ? { commits: false as const } : {}),
      },
    ]),
  ];
}

/** As an agent does that was asked to resolve a conflict, wherever it is asked. */
const RESOLVE = `
commit=$(printf %s "$PROMPT" | grep -oE 'conflicts with [0-9a-f]{40}' | head -1 | cut -d' ' -f3)
git rev-parse -q --verify MERGE_HEAD > /dev/null || git merge -q "$commit"
echo 'title: left and right' > shared.txt
git add shared.txt && git commit -qm 'Resolve the conflict'
`;

function troubleOf(tool: Tool, { name }: Situation): ChaosEntry[] {
  const anyBuild = PIECES.map((piece) => tool.prompts.build[piece]).join('|');
  switch (name) {
    case 'usage-limit':
      return [
        {
          ...{ match: anyBuild, label: 'refused', mode: 'hits-a-limit', seconds: LIMIT_SECONDS },
          limit: 'You’ve hit your 5-hour limit · resets {time}'.replace('’', "'"),
        },
      ];
    case 'login-expired':
      return [{ match: anyBuild, label: 'refused', mode: 'not-logged-in' }];
    case 'silent-server':
      return [{ match: tool.prompts.build.left, label: 'silent', mode: 'hangs-after-start', times: 1 }];
    default:
      return [];
  }
}

function filesOf(piece: Piece, { name }: Situation, trouble: boolean): Pick<ChaosEntry, 'files' | 'runs'> {
  if (name === 'same-lines') return { files: { 'shared.txt': `title: ${piece}\n` } };
  if (name === 'did-nothing' && piece === 'right' && trouble) return {};
  // A builder that is asked again has something new to commit.
  return { runs: `date +%N >> ${piece}-notes.txt`, files: { [`${piece}.txt`]: `${piece}\n` } };
}

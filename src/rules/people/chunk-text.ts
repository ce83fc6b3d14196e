/** A line that opens or closes a block of code. */
const FENCE = /^ {0,3}(?<marks>`{3,}|~{3,})(?<info>.*)$/;

interface Block {
  readonly lines: readonly string[];
  /** Its first line, where it is a block of code. */
  readonly opening?: string;
}

/** A text in parts of at most `longest` characters, each readable alone: a block of code stays whole, or each part of it is one. */
export function chunkText(text: string, longest: number): string[] {
  const chunks: string[] = [];
  let chunk = '';
  const end = (): void => {
    if (chunk.trim() !== '') chunks.push(chunk.replace(/^\n+/, '').trimEnd());
    chunk = '';
  };
  const add = (piece: string): void => {
    if (chunk.length + piece.length > longest) end();
    chunk += piece;
  };
  for (const block of blocksOf(text)) {
    const whole = block.lines.map((line) => `${line}\n`).join('');
    if (chunk.length + whole.length <= longest) chunk += whole;
    else if (block.opening === undefined) for (const piece of piecesOf(whole, longest)) add(piece);
    else {
      end();
      if (whole.length <= longest) chunk = whole;
      else for (const piece of fencedPieces(block.lines, block.opening, longest)) add(piece);
    }
  }
  end();
  return chunks.length === 0 ? ['(no text)'] : chunks;
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  let opening: string | undefined;
  let marks = '';
  const end = (): void => {
    if (lines.length > 0) blocks.push(opening === undefined ? { lines } : { lines, opening });
    lines = [];
    opening = undefined;
  };
  for (const line of text.replaceAll(/\r\n?/g, '\n').split('\n')) {
    const fence = FENCE.exec(line)?.groups;
    const own = fence?.['marks'] ?? '';
    if (opening === undefined) {
      if (fence !== undefined && !(own.startsWith('`') && fence['info']?.includes('`') === true)) {
        end();
        opening = line;
        marks = own;
      }
      lines.push(line);
    } else {
      lines.push(line);
      if (closes(line, marks)) end();
    }
  }
  end();
  return blocks;
}

function closes(line: string, marks: string): boolean {
  const fence = FENCE.exec(line)?.groups;
  return fence?.['marks']?.startsWith(marks) === true && fence['info']?.trim() === '';
}

/** A block of code that is too long for one part, as several blocks that each open and close. */
function fencedPieces(lines: readonly string[], opening: string, longest: number): string[] {
  const marks = FENCE.exec(opening)?.groups?.['marks'] ?? '```';
  const isClosed = lines.length > 1 && closes(lines.at(-1) ?? '', marks);
  // An opening line of many words would leave no room, so it becomes a line of the code.
  const isShort = opening.length <= longest / 4;
  const first = isShort ? opening : marks;
  const most = longest - first.length - marks.length - 3;
  if (most < 1) return piecesOf(lines.map((line) => `${line}\n`).join(''), longest);
  const inside = lines.slice(1, isClosed ? -1 : undefined);
  const body = [...(isShort ? [] : [opening.replace(marks, '')]), ...inside].map((line) => `${line}\n`);
  const packed: string[] = [];
  let part = '';
  for (const piece of body.flatMap((line) => piecesOf(line, most))) {
    if (part !== '' && part.length + piece.length > most) {
      packed.push(part);
      part = '';
    }
    part += piece;
  }
  if (part !== '') packed.push(part);
  return packed.map((one) => `${first}\n${one.endsWith('\n') ? one : `${one}\n`}${marks}\n`);
}

/** Cut at the end of a line, else between words, else within one, but never within a character. */
function piecesOf(text: string, longest: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > longest) {
    const part = rest.slice(0, longest);
    const line = part.lastIndexOf('\n') + 1;
    const word = part.lastIndexOf(' ') + 1;
    let cut = line > 0 ? line : word > 0 ? word : longest;
    if (cut === longest && /[\ud800-\udbff]$/.test(part) && longest > 1) cut -= 1;
    pieces.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  if (rest !== '') pieces.push(rest);
  return pieces;
}

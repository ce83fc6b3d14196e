/** A comment of squad begins with its marker, which readers do not see. */
export function markedText(marker: string, text: string): string {
  return `${opening(marker)}\n${text}`;
}

export function hasMarker(body: string, marker: string): boolean {
  return body.startsWith(opening(marker));
}

export function isMarked(body: string): boolean {
  return body.startsWith(START);
}

const START = '<!-- squad:';

function opening(marker: string): string {
  return `${START}${marker.replaceAll(/[^A-Za-z0-9/_=.-]/g, '_')} -->`;
}

// SPDX-License-Identifier: Apache-2.0
// The answers in the page's own file (src/page/entries.h): gzip in base 64, entries of key and bytes.

export type Answers = ReadonlyMap<string, Uint8Array>;

const decoder = new TextDecoder();

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function padded(n: number): number {
  return Math.ceil(n / 8) * 8;
}

/** The entries of BODY. */
export function splitAnswers(body: ArrayBuffer): Answers {
  const view = new DataView(body);
  const answers = new Map<string, Uint8Array>();
  for (let at = 0; at + 8 <= body.byteLength; ) {
    const nKey = view.getUint32(at, true);
    const n = view.getUint32(at + 4, true);
    const from = at + 8 + padded(nKey);
    const key = decoder.decode(new Uint8Array(body, at + 8, nKey));
    answers.set(key, new Uint8Array(body, from, n));
    at = from + padded(n);
  }
  return answers;
}

/** Rejects if TEXT holds no such data. */
export async function readAnswers(text: string): Promise<Answers> {
  const packed = new Blob([bytesOf(text)]).stream();
  const stream = packed.pipeThrough(new DecompressionStream("gzip"));
  return splitAnswers(await new Response(stream).arrayBuffer());
}

/** BYTES as a buffer of its own, in which arrays are aligned. */
export function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return bytes.slice().buffer as ArrayBuffer;
}

export function jsonOf<T>(bytes: Uint8Array): T {
  return JSON.parse(decoder.decode(bytes)) as T;
}

export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

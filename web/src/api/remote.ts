// SPDX-License-Identifier: Apache-2.0
// The server that sent the page. All addresses are relative, so that any prefix works.

import {
  type Api,
  ApiError,
  type ApiProblem,
  type Catalog,
  type CellQuestion,
  type EventDetail,
  type FlameQuestion,
  type FlameStacks,
  type Name,
  type Options,
  type Progress,
  type Rows,
  type RunsAnswer,
  type Session,
  type Timeline,
} from "./api.ts";
import { Frame } from "./cols.ts";
import {
  type CellPacket,
  decodeCells,
  decodeFlows,
  decodeValues,
  type FlowPacket,
  type ValuePacket,
} from "./packets.ts";
import { follow } from "./sse.ts";
import type { TableName } from "./tables.ts";

const ROOT = "api/v1/";

function query(options: Readonly<Record<string, string | number | true | undefined>>): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(options))
    if (value !== undefined) words.append(name, value === true ? "1" : String(value));
  const text = words.toString();
  return text === "" ? "" : `?${text}`;
}

async function problemOf(response: Response): Promise<ApiProblem> {
  try {
    const told = (await response.json()) as Omit<ApiProblem, "status">;
    if (typeof told.message === "string") return { ...told, status: response.status };
  } catch {
    // The body is no JSON: a proxy may have answered.
  }
  return {
    status: response.status,
    code: "server",
    message: `the server answered ${response.status} ${response.statusText}`,
    what_to_do: "reload the page",
    command: null,
  };
}

async function get(address: string, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(ROOT + address, {
      ...(signal && { signal }),
      credentials: "same-origin",
    });
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new ApiError({
      status: 0,
      code: "offline",
      message: "the server does not answer",
      what_to_do: "start `opscope view` again; the page then goes on",
      command: null,
    });
  }
  if (!response.ok) throw new ApiError(await problemOf(response));
  return response;
}

async function json<T>(address: string, signal?: AbortSignal): Promise<T> {
  return (await (await get(address, signal)).json()) as T;
}

function windowWords(question: CellQuestion) {
  return {
    from: question.window.from,
    to: question.window.to,
    px: question.pixels,
    exact: question.isExact ? (true as const) : undefined,
    n: question.request,
    fp: question.fingerprint,
  };
}

class RemoteApi implements Api {
  session(signal?: AbortSignal): Promise<Session> {
    return json("session", signal);
  }

  catalog(signal?: AbortSignal): Promise<Catalog> {
    return json("catalog", signal);
  }

  runs(run: string, signal?: AbortSignal): Promise<RunsAnswer> {
    return json(`runs${query({ run })}`, signal);
  }

  async table<T extends TableName>(
    name: T,
    options: Options,
    rows: Rows,
    signal?: AbortSignal,
  ): Promise<Frame<T>> {
    const sums = rows.sums === undefined ? {} : { sums: "1" };
    // Here `limit` is that of the window.
    const { limit, ...more } = options;
    const most = limit === undefined ? {} : { most: limit };
    const words = query({ ...more, ...most, offset: rows.offset, limit: rows.limit, ...sums });
    const response = await get(`table/${encodeURIComponent(name)}${words}`, signal).catch(
      (cause) => {
        if (!(cause instanceof ApiError)) throw cause;
        throw new ApiError({ ...cause.problem, question: { table: name, options } });
      },
    );
    return new Frame(await response.arrayBuffer());
  }

  address(name: string, options: Options, format: string): string {
    return `${ROOT}table/${encodeURIComponent(name)}${query({ ...options, format })}`;
  }

  timeline(run: string, signal?: AbortSignal): Promise<Timeline> {
    return json(`tracks${query({ run })}`, signal);
  }

  async cells(
    run: string,
    tracks: ReadonlyArray<readonly [id: number, lanes: number]>,
    question: CellQuestion,
    signal?: AbortSignal,
  ): Promise<CellPacket> {
    const list = tracks.map(([id, lanes]) => `${id}:${lanes}`).join(",");
    const words = query({ run, tracks: list, ...windowWords(question) });
    return decodeCells(await (await get(`cells${words}`, signal)).arrayBuffer());
  }

  async values(
    run: string,
    series: readonly number[],
    question: CellQuestion,
    signal?: AbortSignal,
  ): Promise<ValuePacket> {
    const words = query({ run, series: series.join(","), ...windowWords(question) });
    return decodeValues(await (await get(`values${words}`, signal)).arrayBuffer());
  }

  async flows(
    run: string,
    tracks: readonly number[],
    question: CellQuestion,
    signal?: AbortSignal,
  ): Promise<FlowPacket> {
    const words = query({ run, tracks: tracks.join(","), ...windowWords(question) });
    return decodeFlows(await (await get(`flows${words}`, signal)).arrayBuffer());
  }

  async names(
    run: string,
    page: number,
    fingerprint: string,
    signal?: AbortSignal,
  ): Promise<readonly Name[]> {
    const words = query({ run, fp: fingerprint });
    return (await json<{ names: Name[] }>(`names/${page}${words}`, signal)).names;
  }

  flame(run: string, question: FlameQuestion, signal?: AbortSignal): Promise<FlameStacks> {
    const { pixels, selection, ...words } = question;
    const given = Object.entries(words).filter(([, value]) => value !== "");
    const all = { ...selection, ...Object.fromEntries(given), run, px: pixels };
    return json(`flame${query(all)}`, signal);
  }

  async event(
    run: string,
    event: number,
    fingerprint: string,
    signal?: AbortSignal,
  ): Promise<EventDetail> {
    const words = query({ run, fp: fingerprint });
    const told = await json<Omit<EventDetail, "fingerprint">>(`event/${event}${words}`, signal);
    return { ...told, fingerprint };
  }

  follow(run: string, hear: (news: Progress) => void): () => void {
    return follow(`${ROOT}progress${query({ run })}`, hear, window);
  }
}

export function createRemoteApi(): Api {
  return new RemoteApi();
}

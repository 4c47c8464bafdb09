// SPDX-License-Identifier: Apache-2.0
// A field that offers what there is, found by a few letters; what is typed is taken as it is, too,
// such as 0-3,7. Below stands what cannot be chosen, and why.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Choice, findChoices } from "../model/choices.ts";

const MOST = 100;

interface ComboboxProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  /** What is shown if nothing is chosen. */
  readonly placeholder: string;
  /** Reasons why something is not among the choices. */
  readonly leftOut?: readonly string[];
  /** Only what is offered can be taken. */
  readonly isClosed?: boolean;
  readonly size: number;
  readonly onTake: (value: string) => void;
}

function List(props: {
  readonly id: string;
  readonly found: readonly Choice[];
  readonly at: number;
  readonly value: string;
  readonly leftOut: readonly string[];
  readonly onTake: (value: string) => void;
}) {
  return (
    <div class="combobox-popup">
      <div role="listbox" id={props.id} aria-label="Choices">
        {props.found.slice(0, MOST).map((choice, i) => (
          <div
            key={choice.value}
            id={`${props.id}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={choice.value === props.value}
            class={i === props.at ? "option at" : "option"}
            // The field would lose the focus before the click.
            onPointerDown={(event) => {
              event.preventDefault();
              props.onTake(choice.value);
            }}
          >
            <span>{choice.title}</span> <span class="muted">{choice.about}</span>
          </div>
        ))}
      </div>
      {props.found.length === 0 && (
        <p class="muted">nothing is called so; Enter takes it as it is</p>
      )}
      {props.found.length > MOST && <p class="muted">{props.found.length - MOST} more: type</p>}
      {props.leftOut.length > 0 && (
        <div class="left-out-files">
          <p class="muted">not taken:</p>
          {props.leftOut.slice(0, 20).map((line) => (
            <p key={line}>{line}</p>
          ))}
          {props.leftOut.length > 20 && <p class="muted">and {props.leftOut.length - 20} more</p>}
        </div>
      )}
    </div>
  );
}

export function Combobox(props: ComboboxProps) {
  const [text, setText] = useState<string | null>(null);
  const [at, setAt] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  const isOpen = text !== null;
  const id = `choices-${props.label}`;
  const found = isOpen ? findChoices(props.choices, text === props.value ? "" : text) : [];
  useEffect(() => setText(null), [props.value]);
  const take = (value: string) => {
    setText(null);
    setAt(-1);
    if (value !== props.value) props.onTake(value);
  };
  const enter = () => {
    const chosen = found[at] ?? (props.isClosed ? found[0] : undefined);
    take(chosen?.value ?? (props.isClosed ? props.value : (text ?? "").trim()));
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" && !isOpen) setText(props.value);
    else if (event.key === "ArrowDown") setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(-1, at - 1));
    else if (event.key === "Enter") enter();
    else if (event.key === "Escape") take(props.value);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span class="combobox">
      <label>
        {props.label}
        <input
          ref={field}
          size={props.size}
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={isOpen && at >= 0 ? `${id}-${at}` : undefined}
          placeholder={props.placeholder}
          value={text ?? props.value}
          onFocus={(event) => event.currentTarget.select()}
          onClick={() => setText(text ?? props.value)}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(-1);
          }}
          onKeyDown={press}
          onBlur={() => {
            if (text !== null && text !== props.value && !props.isClosed) take(text.trim());
            else take(props.value);
          }}
        />
      </label>
      {isOpen && (
        <List
          id={id}
          found={found}
          at={at}
          value={props.value}
          leftOut={props.leftOut ?? []}
          onTake={take}
        />
      )}
    </span>
  );
}

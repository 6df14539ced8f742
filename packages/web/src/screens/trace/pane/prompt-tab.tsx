import { showNumber } from "@retinue/core/show/measures";
import { CopyButton } from "../../../ui/copy.tsx";
import { contextWords } from "./overview.tsx";
import { Nothing, PaneSection, type TabProps, TextBlock } from "./section.tsx";

/** What the run was given: its task, what came with it, and the agent's own instructions. */
export function PromptTab({ detail: { task, message, systemPrompt, contextMode } }: TabProps) {
  const given = contextWords(contextMode);
  const isMore = message.trim() !== task.trim();
  return (
    <>
      <PaneSection title="Task" aside={<CopyButton text={task} label="Copy the task" />}>
        <TextBlock label="Task" text={task} />
      </PaneSection>
      <PaneSection
        title={given ? `Given to it: ${given}` : "Given to it"}
        aside={isMore && <CopyButton text={message} label="Copy what it was given" />}
      >
        {isMore ? (
          <TextBlock label="The first message of the run" text={message} tall />
        ) : (
          <Nothing>Nothing but the task.</Nothing>
        )}
      </PaneSection>
      {systemPrompt === null ? (
        <PaneSection title="System prompt">
          <Nothing>The record does not hold it.</Nothing>
        </PaneSection>
      ) : (
        <details className="group">
          <summary className="cursor-pointer rounded text-xs font-semibold text-ink-2 hover:text-ink">
            System prompt
            <span className="figures ml-2 font-normal text-ink-3">
              {showNumber(systemPrompt.length)} characters
            </span>
          </summary>
          <div className="mt-1.5">
            <TextBlock label="System prompt" text={systemPrompt} tall />
          </div>
        </details>
      )}
    </>
  );
}

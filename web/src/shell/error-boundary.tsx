import { Component, type ReactNode } from "react";
import { Failed } from "../ui/states.tsx";

/** Catches what goes wrong while a screen is drawn, so that the rest of the app stays; another address tries again. */
export class ErrorBoundary extends Component<
  { place: string; children: ReactNode },
  { failure: unknown; at: string }
> {
  override state: { failure: unknown; at: string } = { failure: null, at: "" };

  static getDerivedStateFromError(failure: unknown): { failure: unknown } {
    return { failure };
  }

  override componentDidCatch(): void {
    this.setState({ at: this.props.place });
  }

  override componentDidUpdate(): void {
    const { failure, at } = this.state;
    if (failure !== null && at !== "" && at !== this.props.place) this.setState({ failure: null, at: "" });
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === null) return this.props.children;
    return <Failed failure={failure} onRetry={() => location.reload()} />;
  }
}

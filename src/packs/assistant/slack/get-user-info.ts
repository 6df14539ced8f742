import type { Tool } from "../../../tools/tool.ts";
import { readTool } from "../tool/service-tool.ts";
import type { Desk } from "../tool/services.ts";
import { cutText } from "../tool/tool-output.ts";

/** The tool `slack_get_user_info`. */
export function getUserInfo(desk: Desk): Tool<{ user: string }> {
  return readTool<{ user: string }>(desk, {
    name: "slack_get_user_info",
    description:
      "Says who somebody in the workspace is: name, real name, title, mail address, time zone, status.",
    group: "slack",
    properties: {
      user: {
        type: "string",
        minLength: 1,
        maxLength: 300,
        description: "Id, @name, real name or mail address.",
      },
    },
    required: ["user"],
    run: async ({ user: who }, services) => {
      const user = await services.slack((slack, signal) => slack.user(who, signal));
      const { title, email, zone, status } = user;
      return {
        data: {
          user: {
            user_id: user.id,
            name: cutText(user.name, 200),
            real_name: cutText(user.realName, 200),
            ...(title && { title: cutText(title, 200) }),
            ...(email && { email }),
            ...(zone && { timezone: zone }),
            ...(status && { status: cutText(status, 200) }),
          },
        },
      };
    },
  });
}

"""The client layer: models, links, the hub and the outbox. It draws nothing and asks nothing."""

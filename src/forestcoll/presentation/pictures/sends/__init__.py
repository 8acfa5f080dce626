"""The sends of a part of a schedule, such as one tree or one step, over the picture of the network."""

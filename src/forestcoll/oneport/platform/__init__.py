"""The platform of a series of broadcasts: costs of links, ports, and what links share."""
